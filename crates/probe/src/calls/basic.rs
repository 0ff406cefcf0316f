//! Calls that do next to nothing: the price of entering the kernel.

use std::fs::File;
use std::os::fd::AsRawFd;

use super::{Call, Setup};
use crate::sys::{Fault, expect_bytes, syscall, word};

/// `null`: getppid.
pub struct Null;

impl Call for Null {
    fn prepare(_: &Setup) -> Result<Self, Fault> {
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
    zero: File,
}

impl Call for Read {
    fn prepare(_: &Setup) -> Result<Self, Fault> {
        Ok(Self { zero: File::open("/dev/zero")? })
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
    null: File,
}

impl Call for Write {
    fn prepare(_: &Setup) -> Result<Self, Fault> {
        Ok(Self { null: File::options().write(true).open("/dev/null")? })
    }

    #[inline]
    fn operate(&mut self) -> Result<(), Fault> {
        let byte = 0_u8;
        let arguments = [word(self.null.as_raw_fd()), &raw const byte as usize, 1];
        // SAFETY: reads `byte` alone.
        expect_bytes(unsafe { syscall(libc::SYS_write, arguments) }?, 1)
    }
}
