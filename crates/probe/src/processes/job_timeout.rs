//! The time limit of a whole job, for every wait that has no limit of its own.
//!
//! A timer of the kernel interrupts the probe's wait. Until it goes off, a measured program
//! executes the same instructions for any limit: no wait reads the clock for it, or is given a time
//! to end.

use std::ffi::c_int;
use std::io;
use std::mem;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use crate::error::{Context, Error, Result};

/// How long a job may take, in seconds, unless the sender says otherwise: half a day.
///
/// A guest under the instruction counter skips the time in which it waits. So half a day of waiting
/// is over within half a minute of the host's time, before the host's own limit. Half a day of work
/// is 4e13 instructions, for which an emulator takes longer than the host's largest limit, a day.
/// So this limit ends endless waits, and the host's ends endless work.
pub const HALF_A_DAY: u32 = 12 * 60 * 60;
/// The timer repeats after so many seconds, as the probe may not have been waiting at first.
const AGAIN: i64 = 1;

static SECONDS: AtomicU32 = AtomicU32::new(HALF_A_DAY);
static RANG: AtomicBool = AtomicBool::new(false);

/// Starts the timer, of at least one second.
pub fn set(seconds: u32) -> Result<()> {
    SECONDS.store(seconds, Ordering::SeqCst);
    // SAFETY: all zeroes are a valid action, without flags: the interrupted call is not resumed.
    // The handler only stores to an atomic. Both calls read their arguments alone.
    let result = unsafe {
        let mut action: libc::sigaction = mem::zeroed();
        action.sa_sigaction = ring as extern "C" fn(c_int) as libc::sighandler_t;
        let time = libc::itimerval {
            it_value: libc::timeval { tv_sec: seconds.max(1).into(), tv_usec: 0 },
            it_interval: libc::timeval { tv_sec: AGAIN, tv_usec: 0 },
        };
        libc::sigaction(libc::SIGALRM, &raw const action, ptr::null_mut())
            | libc::setitimer(libc::ITIMER_REAL, &raw const time, ptr::null_mut())
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()).context(|| "a timer".into()) }
}

extern "C" fn ring(_signal: c_int) {
    RANG.store(true, Ordering::SeqCst);
}

/// Fails once the timer has gone off.
pub fn check() -> Result<()> {
    if RANG.load(Ordering::SeqCst) {
        let seconds = SECONDS.load(Ordering::SeqCst);
        return Err(Error::Other(format!("the job did not end within {seconds} s")));
    }
    Ok(())
}
