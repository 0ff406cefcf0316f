//! Delivery of signals.

use std::sync::atomic::{AtomicU64, Ordering};

use super::{Call, Setup};
use crate::sys::{Fault, syscall};

static DELIVERED: AtomicU64 = AtomicU64::new(0);

extern "C" fn handle(_: libc::c_int) {
    DELIVERED.fetch_add(1, Ordering::Relaxed);
}

/// `signal`: kill of the own process, delivery to a handler, `rt_sigreturn`.
pub struct Signal {
    pid: usize,
    sent: u64,
}

impl Call for Signal {
    fn prepare(_: &Setup) -> Result<Self, Fault> {
        let handler: extern "C" fn(libc::c_int) = handle;
        // SAFETY: the handler only adds to an atomic.
        if unsafe { libc::signal(libc::SIGUSR1, handler as libc::sighandler_t) } == libc::SIG_ERR {
            return Err(std::io::Error::last_os_error().into());
        }
        Ok(Self { pid: std::process::id() as usize, sent: 0 })
    }

    #[inline]
    fn operate(&mut self) -> Result<(), Fault> {
        self.sent += 1;
        // SAFETY: touches no memory but what the handler does.
        unsafe { syscall(libc::SYS_kill, [self.pid, libc::SIGUSR1 as usize]) }.map(drop)
    }

    fn after(&mut self) -> Result<(), Fault> {
        if DELIVERED.load(Ordering::Relaxed) == self.sent {
            Ok(())
        } else {
            Err(Fault::Wrong("a signal was not delivered at once"))
        }
    }
}
