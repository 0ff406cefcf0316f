//! Calls that do next to nothing: what entering the kernel costs.

use rustix::fd::{AsRawFd, OwnedFd};
use rustix::fs::{Mode, OFlags, open};

use crate::call::{Call, CallSetup};
use crate::calls::fixtures;
use crate::raw_syscalls::{Fault, expect_bytes, syscall, word};

/// `null`: getppid.
pub struct Null;

impl Call for Null {
    fn prepare(_: &CallSetup) -> Result<Self, Fault> {
        Ok(Self)
    }

    #[inline]
    fn operate(&mut self) -> Result<(), Fault> {
        // SAFETY: touches no memory.
        unsafe { syscall(libc::SYS_getppid, []) }.map(drop)
    }
}

/// `read`: read of one byte from `/dev/zero`.
pub struct Read {
    zero: OwnedFd,
}

impl Call for Read {
    fn prepare(_: &CallSetup) -> Result<Self, Fault> {
        Ok(Self { zero: fixtures::open_to_read(c"/dev/zero")? })
    }

    #[inline]
    fn operate(&mut self) -> Result<(), Fault> {
        let mut byte = 0_u8;
        let arguments = [word(self.zero.as_raw_fd()), &raw mut byte as usize, 1];
        // SAFETY: writes to `byte` alone.
        expect_bytes(unsafe { syscall(libc::SYS_read, arguments) }?, 1)
    }
}

/// `write`: write of one byte to `/dev/null`.
pub struct Write {
    null: OwnedFd,
}

impl Call for Write {
    fn prepare(_: &CallSetup) -> Result<Self, Fault> {
        let flags = OFlags::WRONLY | OFlags::CLOEXEC;
        Ok(Self { null: open("/dev/null", flags, Mode::empty())? })
    }

    #[inline]
    fn operate(&mut self) -> Result<(), Fault> {
        let byte = 0_u8;
        let arguments = [word(self.null.as_raw_fd()), &raw const byte as usize, 1];
        // SAFETY: reads `byte` alone.
        expect_bytes(unsafe { syscall(libc::SYS_write, arguments) }?, 1)
    }
}
