//! A process that counts whenever nothing else wants to run on its processor.
//!
//! So no processor is ever halted, QEMU never skips time, and it is known how much of its time a
//! processor was free.

use std::arch::asm;

use hardcost_linux::parallel_clock::ParallelClock;
use hardcost_measured::raw_syscalls;

use crate::error::{Context, Result, refusal};
use crate::guest::busy_loop;
use crate::guest::parallel::processors::keep;

/// No operations for each count.
const NOTHINGS: usize = 500;
/// How often it counts between two yields.
const ROUNDS: u32 = 100;

/// Starts one on a processor. It ends with the machine.
pub fn start(clock: &ParallelClock, processor: usize) -> Result<()> {
    let counter = clock.counter(processor);
    // SAFETY: the child only makes system calls and counts, and never returns.
    let child = unsafe { raw_syscalls::fork() }.map_err(refusal);
    let child = child.context(|| "starting what keeps a processor busy".into())?;
    if child == 0 {
        // If this fails the calibration finds out.
        let _ = keep(None, [processor]);
        busy_loop::step_down();
        spin(counter)
    }
    Ok(())
}

fn spin(counter: *mut u64) -> ! {
    loop {
        // SAFETY: the count is in a page that stays mapped, and only this process writes to it.
        unsafe {
            asm!(
                "2:",
                ".rept {nothings}", "nop", ".endr",
                "inc qword ptr [{counter}]",
                "dec {rounds:e}",
                "jnz 2b",
                nothings = const NOTHINGS,
                counter = in(reg) counter,
                rounds = inout(reg) ROUNDS => _,
                options(nostack),
            );
        }
        // SAFETY: touches no memory.
        let _ = unsafe { raw_syscalls::syscall(libc::SYS_sched_yield, []) };
    }
}
