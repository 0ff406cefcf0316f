//! A mix of system calls that do next to nothing: duplicate and close a descriptor, and three
//! queries that the kernel answers immediately.

use crate::fault::{Result, check};
use crate::test_loop::TestLoop;

const MASK: libc::mode_t = 0o22;

/// The known results of the calls.
pub struct SyscallMix {
    process: libc::pid_t,
    user: libc::uid_t,
    wrong: u64,
}

impl SyscallMix {
    /// Makes each call once.
    pub fn new() -> Self {
        // SAFETY: takes a number.
        unsafe { libc::umask(MASK) };
        // SAFETY: both always succeed.
        let (process, user) = unsafe { (libc::getpid(), libc::getuid()) };
        Self { process, user, wrong: 0 }
    }
}

impl TestLoop for SyscallMix {
    fn once(&mut self) -> Result<()> {
        // SAFETY: these calls take numbers and touch no memory; the descriptor is closed at once.
        let right = unsafe {
            let copy = libc::dup(0);
            libc::close(copy) == 0
                && libc::getpid() == self.process
                && libc::getuid() == self.user
                && libc::umask(MASK) == MASK
        };
        self.wrong += u64::from(!right);
        Ok(())
    }

    fn finish(self, _loops: u64) -> Result<()> {
        check(self.wrong == 0, || format!("{} loops had another answer", self.wrong))
    }
}

#[cfg(test)]
mod tests {
    use super::SyscallMix;
    use crate::test_loop::TestLoop;

    #[test]
    fn an_answer_that_is_another_is_noticed() {
        let mut mix = SyscallMix::new();
        mix.once().unwrap();
        assert_eq!(mix.wrong, 0);
        mix.user += 1;
        mix.once().unwrap();
        assert!(mix.finish(2).is_err());
    }
}
