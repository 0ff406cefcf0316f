//! The end of the time that a job has, for whatever has no limit of its own.
//!
//! It is a timer of the kernel's that interrupts the probe where it waits. As long as it has not
//! rung, what is measured executes the same instructions whatever its length: no wait asks the clock
//! for it, and none is given a time to end.

use std::ffi::c_int;
use std::io;
use std::mem;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use crate::error::{Context, Error, Result};

/// How long a job may take, in seconds, unless whoever sends it says otherwise: half a day.
///
/// A guest under the instruction counter skips the time in which it waits: half a day of waiting is
/// over within half a minute of the host's, and so before the host's own limit. Half a day of work is
/// 4e13 instructions, for which an emulator takes longer than the day that is the most the host's
/// limit can be. So this ends what waits for nothing; what works without end, the host ends.
pub const HALF_A_DAY: u32 = 12 * 60 * 60;
/// It rings again after so many seconds, as the probe may not have been waiting when it rang.
const AGAIN: i64 = 1;

static SECONDS: AtomicU32 = AtomicU32::new(HALF_A_DAY);
static RANG: AtomicBool = AtomicBool::new(false);

/// Has it ring in so many seconds, at least one.
pub fn set(seconds: u32) -> Result<()> {
    SECONDS.store(seconds, Ordering::SeqCst);
    // SAFETY: all zeroes are a valid action, without flags: what is interrupted is not resumed. The
    // handler touches nothing but an atomic. Both calls read their arguments alone.
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

/// Refuses to go on once it has rung.
pub fn check() -> Result<()> {
    if RANG.load(Ordering::SeqCst) {
        let seconds = SECONDS.load(Ordering::SeqCst);
        return Err(Error::Other(format!("the job did not end within {seconds} s")));
    }
    Ok(())
}
