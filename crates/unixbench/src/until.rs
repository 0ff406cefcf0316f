//! When a test has done enough: after so many loops, or when its time is over.

use std::mem;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

/// How much of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// So many loops.
    Loops(u64),
    /// As many loops as fit into so many seconds.
    Seconds(u64),
}

/// Set by the alarm that ends a test by time.
static OVER: AtomicBool = AtomicBool::new(false);

/// Counts loops until there were enough.
#[derive(Debug)]
pub struct Until {
    most: u64,
    done: u64,
}

impl Until {
    /// Starts counting, and the alarm where the span is one of time.
    pub fn start(span: Span) -> Self {
        let most = match span {
            Span::Loops(loops) => loops,
            Span::Seconds(seconds) => {
                OVER.store(false, Ordering::Relaxed);
                alarm_after(seconds);
                u64::MAX
            }
        };
        Self { most, done: 0 }
    }

    /// Whether there is another loop to do, which is then counted as done.
    #[inline]
    pub fn more(&mut self) -> bool {
        if self.done == self.most || OVER.load(Ordering::Relaxed) {
            return false;
        }
        self.done += 1;
        true
    }

    /// How many loops were begun, all of which have ended when `more` was false.
    pub fn done(&self) -> u64 {
        self.done
    }
}

extern "C" fn over(_signal: libc::c_int) {
    OVER.store(true, Ordering::Relaxed);
}

/// Sets `OVER` after so many seconds. Calls that the signal interrupts go on.
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
    use super::{Span, Until};

    #[test]
    fn loops_are_counted_to_the_last() {
        let mut until = Until::start(Span::Loops(3));
        let mut seen = 0;
        while until.more() {
            seen += 1;
        }
        assert_eq!((seen, until.done()), (3, 3));
        assert!(!until.more());
        assert_eq!(until.done(), 3);
    }
}
