//! The second process of calls that need two.

use crate::raw_syscalls::{self, Fault, syscall, word};

/// A child process; killed when this goes away.
pub struct PartnerProcess {
    pid: i32,
}

impl PartnerProcess {
    /// Starts a process that repeats `work` until that fails or the process is killed.
    ///
    /// `work` must make nothing but system calls. Neither process preempts the other by waking it:
    /// on one processor they take turns when one waits. Otherwise their earlier run times would
    /// decide who runs, and an operation could cost less with audit on than with it off.
    pub fn start(mut work: impl FnMut() -> Result<(), Fault>) -> Result<Self, Fault> {
        let parameters = libc::sched_param { sched_priority: 0 };
        let batch = [0, word(libc::SCHED_BATCH), &raw const parameters as usize];
        // SAFETY: reads the parameters alone.
        unsafe { syscall(libc::SYS_sched_setscheduler, batch) }?;
        // SAFETY: the child makes system calls and ends by `exit`.
        match unsafe { raw_syscalls::fork() }? {
            0 => {
                let die_with_parent = [word(libc::PR_SET_PDEATHSIG), word(libc::SIGKILL)];
                // SAFETY: touches no memory.
                let mut result = unsafe { syscall(libc::SYS_prctl, die_with_parent) }.map(drop);
                while result.is_ok() {
                    result = work();
                }
                raw_syscalls::exit(1)
            }
            pid => Ok(Self { pid }),
        }
    }
}

impl PartnerProcess {
    /// Its process id.
    pub const fn id(&self) -> i32 {
        self.pid
    }
}

impl Drop for PartnerProcess {
    fn drop(&mut self) {
        // SAFETY: touches no memory; the child is not reaped yet, so the id is its own.
        let _ = unsafe { syscall(libc::SYS_kill, [word(self.pid), word(libc::SIGKILL)]) };
        let _ = raw_syscalls::wait(self.pid);
    }
}
