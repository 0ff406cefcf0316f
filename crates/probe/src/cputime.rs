//! The processor time that the kernel accounts to processes.

use serde::{Deserialize, Serialize};

/// Time on the processor, in microseconds.
///
/// The sum is as exact as the kernel's clock; how it is split between user and system, most
/// kernels only sample at each tick of the clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct CpuTime {
    /// In programs.
    pub user: u64,
    /// In the kernel on their behalf.
    pub system: u64,
}

impl CpuTime {
    /// What this process has used so far.
    pub fn own() -> Self {
        usage(libc::RUSAGE_SELF)
    }

    /// What the children of this process have used that were reaped, and theirs, and so on.
    pub fn reaped() -> Self {
        usage(libc::RUSAGE_CHILDREN)
    }

    /// What came on top of `earlier`.
    pub fn since(self, earlier: Self) -> Self {
        Self {
            user: self.user.saturating_sub(earlier.user),
            system: self.system.saturating_sub(earlier.system),
        }
    }
}

/// How long a process ran in all, in nanoseconds, with all its threads; `None` if there is none.
pub fn clock_of_process(pid: i32) -> Option<u64> {
    // The kernel's number of that clock: `MAKE_PROCESS_CPUCLOCK` of `CPUCLOCK_SCHED`.
    nanoseconds((!pid << 3) | 2)
}

/// How long this thread ran in all, in nanoseconds.
pub fn clock_of_thread() -> u64 {
    nanoseconds(libc::CLOCK_THREAD_CPUTIME_ID).unwrap_or(0)
}

fn nanoseconds(clock: libc::clockid_t) -> Option<u64> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes to `time` alone.
    let failed = unsafe { libc::clock_gettime(clock, &raw mut time) } != 0;
    let (seconds, rest) = (u64::try_from(time.tv_sec).ok()?, u64::try_from(time.tv_nsec).ok()?);
    (!failed).then_some(seconds * 1_000_000_000 + rest)
}

/// What the kernel says that `whom` has used.
fn usage(whom: libc::c_int) -> CpuTime {
    // SAFETY: all zeroes is a valid value, and the call writes to it alone. It can't fail for the
    // values of `whom` that are used above.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(whom, &raw mut usage);
        usage
    };
    CpuTime { user: microseconds(usage.ru_utime), system: microseconds(usage.ru_stime) }
}

/// A length of time, which is never negative.
fn microseconds(time: libc::timeval) -> u64 {
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000 + u64::try_from(time.tv_usec).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::{CpuTime, clock_of_process, clock_of_thread};

    #[test]
    fn what_a_reaped_child_used_is_counted_and_no_more() {
        let before = CpuTime::reaped();
        let script = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done";
        Command::new("sh").args(["-c", script]).status().expect("a shell");
        let used = CpuTime::reaped().since(before);
        assert!(used.user + used.system > 0);
        assert_eq!(before.since(CpuTime::reaped()), CpuTime::default());
    }

    #[test]
    fn the_clock_of_a_process_runs_while_it_does() {
        let own = rustix::process::getpid().as_raw_nonzero().get();
        let (process, thread) = (clock_of_process(own), clock_of_thread());
        assert!(process > Some(0) && thread > 0);
        while clock_of_thread() == thread {}
        assert!(clock_of_process(own) > process);
        assert_eq!(clock_of_process(1 << 26), None);
    }

    #[test]
    fn a_process_uses_time_of_its_own() {
        let before = CpuTime::own();
        while CpuTime::own().since(before) == CpuTime::default() {}
    }
}
