//! Keeps the processor of a guest that counts instructions from ever being idle.
//!
//! QEMU skips the time in which a processor is halted, and now and then does so from a clock that
//! it has not brought up to date, so that the guest's clock jumps too far (see
//! docs/determinism.md). Real services wait for each other all the time, and the probe waits for
//! the kernel. With a process that always has something to do the processor never halts, and time
//! passes by instructions alone.
//!
//! It is of the scheduler's class for what nobody waits for: whatever else wakes up interrupts it.
//! Where others want to run it gets 3 parts in 1027 all the same, 0.3 % of the time, in pieces of
//! some 50,000 instructions, which count like any other. It asks over and over whether others want
//! to run, so that a piece does not grow to a whole tick. While a call or a program is measured
//! outside a guest of services, it is halted.

use std::arch::asm;

use hardcost_measured::sys;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use crate::error::{Context, Result, refusal};
use crate::ports;

/// What it is called among processes.
const NAME: &std::ffi::CStr = c"hardcost-idle";
/// QEMU makes nothing of these, so that a second of them takes it some hundredths.
const NOTHINGS: usize = 500;
/// So often between two questions.
const ROUNDS: u32 = 100;

/// The process; it ends with the machine.
pub struct Spinner {
    pid: Pid,
}

impl Spinner {
    /// Starts it.
    pub fn start() -> Result<Self> {
        // SAFETY: the child only makes system calls, and does not come back.
        let child = unsafe { sys::fork() }.map_err(refusal);
        let child = child.context(|| "starting what keeps the processor busy".into())?;
        let Some(pid) = Pid::from_raw(child) else {
            step_down();
            spin()
        };
        Ok(Self { pid })
    }

    /// Halts it. When this returns it has stopped, so that its stopping disturbs nobody later.
    pub fn halt(&self) -> Result<Halted> {
        let halting = || "halting what keeps the processor busy".into();
        kill_process(self.pid, Signal::STOP).context(halting)?;
        waitpid(Some(self.pid), WaitOptions::UNTRACED).context(halting)?;
        Ok(Halted { pid: self.pid })
    }
}

/// While this lives, nothing keeps the processor busy.
pub struct Halted {
    pid: Pid,
}

impl Drop for Halted {
    fn drop(&mut self) {
        // What could be stopped can go on.
        let _ = kill_process(self.pid, Signal::CONT);
    }
}

/// Gives up what it need not have, and its place among the others.
fn step_down() {
    ports::release();
    // SAFETY: the arguments are valid for as long as the calls last. Where one of them is refused,
    // the process is in the way of others, which costs and harms nothing else.
    unsafe {
        libc::prctl(libc::PR_SET_NAME, NAME.as_ptr());
        libc::setpriority(libc::PRIO_PROCESS, 0, 19);
        let lowest = libc::sched_param { sched_priority: 0 };
        libc::sched_setscheduler(0, libc::SCHED_IDLE, &raw const lowest);
    }
}

fn spin() -> ! {
    loop {
        for _ in 0..ROUNDS {
            // SAFETY: does nothing.
            unsafe {
                asm!(".rept {}", "nop", ".endr", const NOTHINGS, options(nomem, nostack, preserves_flags));
            }
        }
        // SAFETY: touches no memory.
        let _ = unsafe { sys::syscall(libc::SYS_sched_yield, []) };
    }
}
