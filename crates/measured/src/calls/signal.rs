//! Delivery of signals.

use core::arch::global_asm;
use core::ptr;
use core::sync::atomic::{AtomicU64, Ordering};

use rustix::process::getpid;

use crate::call::{Call, CallSetup};
use crate::raw_syscalls::{Fault, syscall};

static DELIVERED: AtomicU64 = AtomicU64::new(0);

extern "C" fn handle(_: libc::c_int) {
    DELIVERED.fetch_add(1, Ordering::Relaxed);
}

// The kernel has a handler return to it.
global_asm!(
    ".globl hardcost_measured_restore",
    "hardcost_measured_restore:",
    "mov eax, {number}",
    "syscall",
    number = const libc::SYS_rt_sigreturn,
);

unsafe extern "C" {
    fn hardcost_measured_restore();
}

/// The kernel's `struct sigaction`.
#[repr(C)]
struct Action {
    handler: extern "C" fn(libc::c_int),
    flags: u64,
    restorer: unsafe extern "C" fn(),
    mask: u64,
}

/// Resumes an interrupted call.
const RESTART: u64 = 0x1000_0000;
/// Says that there is a restorer.
const RESTORER: u64 = 0x0400_0000;

/// `signal`: kill of the own process, delivery to a handler, `rt_sigreturn`.
pub struct Signal {
    pid: usize,
    sent: u64,
}

impl Call for Signal {
    fn prepare(_: &CallSetup) -> Result<Self, Fault> {
        let action = Action {
            handler: handle,
            flags: RESTART | RESTORER,
            restorer: hardcost_measured_restore,
            mask: 0,
        };
        let arguments = [
            libc::SIGUSR1 as usize,
            &raw const action as usize,
            ptr::null::<u8>() as usize,
            size_of::<u64>(),
        ];
        // SAFETY: reads `action` alone; the handler only adds to an atomic.
        unsafe { syscall(libc::SYS_rt_sigaction, arguments) }?;
        Ok(Self { pid: getpid().as_raw_nonzero().get().unsigned_abs() as usize, sent: 0 })
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
