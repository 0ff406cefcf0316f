//! The end of a test: after a number of loops, or after some time.

use std::mem;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

/// How much of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopLimit {
    /// That many loops.
    Loops(u64),
    /// As many loops as fit into that many seconds.
    Seconds(u64),
}

/// Set by the alarm that ends a test by time.
static OVER: AtomicBool = AtomicBool::new(false);

/// Counts loops up to the end of the test.
#[derive(Debug)]
pub struct LoopCounter {
    most: u64,
    done: u64,
}

impl LoopCounter {
    /// Starts counting, and the alarm if the limit is a time.
    pub fn start(limit: LoopLimit) -> Self {
        let most = match limit {
            LoopLimit::Loops(loops) => loops,
            LoopLimit::Seconds(seconds) => {
                OVER.store(false, Ordering::Relaxed);
                alarm_after(seconds);
                u64::MAX
            }
        };
        Self { most, done: 0 }
    }

    /// Whether there is another loop to do, which then counts as done.
    #[inline]
    pub fn more(&mut self) -> bool {
        if self.done == self.most || OVER.load(Ordering::Relaxed) {
            return false;
        }
        self.done += 1;
        true
    }

    /// The number of loops begun, all of which have ended once `more` was false.
    pub fn done(&self) -> u64 {
        self.done
    }
}

extern "C" fn over(_signal: libc::c_int) {
    OVER.store(true, Ordering::Relaxed);
}

/// Sets `OVER` after that many seconds. Calls interrupted by the signal are resumed.
fn alarm_after(seconds: u64) {
    // SAFETY: a structure of numbers, for which zeros are valid.
    let mut action: libc::sigaction = unsafe { mem::zeroed() };
    let handler: extern "C" fn(libc::c_int) = over;
    action.sa_sigaction = handler as libc::sighandler_t;
    action.sa_flags = libc::SA_RESTART;
    let seconds = libc::c_uint::try_from(seconds).unwrap_or(libc::c_uint::MAX);
    // SAFETY: the handler only stores to an atomic.
    unsafe {
        libc::sigaction(libc::SIGALRM, &raw const action, ptr::null_mut());
        libc::alarm(seconds);
    }
}

#[cfg(test)]
mod tests {
    use super::{LoopCounter, LoopLimit};

    #[test]
    fn loops_are_counted_to_the_last() {
        let mut counter = LoopCounter::start(LoopLimit::Loops(3));
        let mut seen = 0;
        while counter.more() {
            seen += 1;
        }
        assert_eq!((seen, counter.done()), (3, 3));
        assert!(!counter.more());
        assert_eq!(counter.done(), 3);
    }
}
