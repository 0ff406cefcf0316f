//! A process that keeps the processor of a guest busy, so that it is never idle.
//!
//! QEMU skips the time in which a processor is halted, and sometimes does so by a clock that it has
//! not updated, so that the guest's clock jumps too far (see docs/determinism.md). Real services
//! wait for each other all the time, and the probe waits for the kernel. With a process that always
//! has something to do the processor never halts, and only instructions take time.
//!
//! It has the scheduling policy for idle work: any other process that wakes up preempts it. Beside
//! others it still gets 3 parts in 1027, 0.3 % of the time, in slices of some 50,000 instructions,
//! which count like any other. It yields again and again, so that a slice does not grow to a whole
//! tick. Outside a guest of services it is paused while a call or program is measured.

use std::arch::asm;

use hardcost_measured::raw_syscalls;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use crate::error::{Context, Result, refusal};
use crate::guest::qemu_ports;

/// The name of the process.
const NAME: &std::ffi::CStr = c"hardcost-idle";
/// No operations between two yields: QEMU translates them to nothing, so a second of them takes it
/// some hundredths.
const NOTHINGS: usize = 500;
/// How often they are repeated between two yields.
const ROUNDS: u32 = 100;

/// The process. It ends with the machine.
pub struct BusyLoop {
    pid: Pid,
}

impl BusyLoop {
    /// Starts it.
    pub fn start() -> Result<Self> {
        // SAFETY: the child only makes system calls, and never returns.
        let child = unsafe { raw_syscalls::fork() }.map_err(refusal);
        let child = child.context(|| "starting what keeps the processor busy".into())?;
        let Some(pid) = Pid::from_raw(child) else {
            step_down();
            spin()
        };
        Ok(Self { pid })
    }

    /// Pauses it. When this returns it has stopped, so the stop itself disturbs nothing later.
    pub fn pause(&self) -> Result<PausedBusyLoop> {
        let halting = || "halting what keeps the processor busy".into();
        kill_process(self.pid, Signal::STOP).context(halting)?;
        waitpid(Some(self.pid), WaitOptions::UNTRACED).context(halting)?;
        Ok(PausedBusyLoop { pid: self.pid })
    }
}

/// While this lives, the processor may be idle.
pub struct PausedBusyLoop {
    pid: Pid,
}

impl Drop for PausedBusyLoop {
    fn drop(&mut self) {
        // Continuing can't fail where stopping worked.
        let _ = kill_process(self.pid, Signal::CONT);
    }
}

/// Drops rights that it does not need, and lowers its priority.
pub fn step_down() {
    qemu_ports::release();
    // SAFETY: the arguments are valid during the calls. If one is refused, the process preempts
    // others, which costs time and harms nothing else.
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
        let _ = unsafe { raw_syscalls::syscall(libc::SYS_sched_yield, []) };
    }
}
