//! The other process of calls that take two.

use crate::sys::{self, Fault, syscall, word};

/// A child process; killed when this goes away.
pub struct Partner {
    pid: i32,
}

impl Partner {
    /// Starts a process that repeats `work` until that fails or the process is killed.
    ///
    /// `work` must make nothing but system calls. Neither process interrupts the other by waking
    /// it: on one processor they take turns where one waits. Otherwise it would depend on who ran
    /// how long before, and an operation could cost less with audit on than with it off.
    pub fn start(mut work: impl FnMut() -> Result<(), Fault>) -> Result<Self, Fault> {
        let parameters = libc::sched_param { sched_priority: 0 };
        let batch = [0, word(libc::SCHED_BATCH), &raw const parameters as usize];
        // SAFETY: reads the parameters alone.
        unsafe { syscall(libc::SYS_sched_setscheduler, batch) }?;
        // SAFETY: the child makes system calls and ends by `exit`.
        match unsafe { sys::fork() }? {
            0 => {
                let die_with_parent = [word(libc::PR_SET_PDEATHSIG), word(libc::SIGKILL)];
                // SAFETY: touches no memory.
                let mut result = unsafe { syscall(libc::SYS_prctl, die_with_parent) }.map(drop);
                while result.is_ok() {
                    result = work();
                }
                sys::exit(1)
            }
            pid => Ok(Self { pid }),
        }
    }
}

impl Partner {
    /// Its process id.
    pub const fn id(&self) -> i32 {
        self.pid
    }
}

impl Drop for Partner {
    fn drop(&mut self) {
        // SAFETY: touches no memory; the child is not reaped yet, so the id is its own.
        let _ = unsafe { syscall(libc::SYS_kill, [word(self.pid), word(libc::SIGKILL)]) };
        let _ = sys::wait(self.pid);
    }
}
