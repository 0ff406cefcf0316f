//! The processor time of processes, by `getrusage`.

use crate::raw_syscalls::{syscall, word};

/// Time on the processor, in microseconds.
/// The sum is as exact as the kernel's clock. Most kernels only sample how it splits between user
/// and system, at each tick of the clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTime {
    /// In programs.
    pub user: u64,
    /// In the kernel on their behalf.
    pub system: u64,
}

impl CpuTime {
    /// What this process has used so far.
    #[must_use]
    pub fn own() -> Self {
        usage(libc::RUSAGE_SELF)
    }

    /// What the reaped children of this process have used, with their own reaped children.
    #[must_use]
    pub fn reaped() -> Self {
        usage(libc::RUSAGE_CHILDREN)
    }

    /// What came on top of `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            user: self.user.saturating_sub(earlier.user),
            system: self.system.saturating_sub(earlier.system),
        }
    }
}

/// What `whom` has used.
fn usage(whom: libc::c_int) -> CpuTime {
    // SAFETY: all zeroes is a valid value.
    let mut usage: libc::rusage = unsafe { core::mem::zeroed() };
    // SAFETY: writes to `usage` alone. It can't fail for the values of `whom` that are used above.
    let _ = unsafe { syscall(libc::SYS_getrusage, [word(whom), &raw mut usage as usize]) };
    CpuTime { user: microseconds(usage.ru_utime), system: microseconds(usage.ru_stime) }
}

/// A length of time, which is never negative.
fn microseconds(time: libc::timeval) -> u64 {
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000 + u64::try_from(time.tv_usec).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::CpuTime;

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
    fn a_process_uses_time_of_its_own() {
        let before = CpuTime::own();
        while CpuTime::own().since(before) == CpuTime::default() {}
    }
}
