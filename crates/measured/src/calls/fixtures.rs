//! Files that calls need before they can be measured.

use core::ffi::CStr;

use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, fstat, open, unlink};
use rustix::io::write;

use crate::audit_inode_buckets::{FILE_BUCKET, TRIES, numbers_until};
use crate::raw_syscalls::{Fault, expect_bytes};

/// Creates a file with one byte, in the same bucket of audit rules in each guest.
pub fn create_file(name: &CStr) -> Result<(), Fault> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC;
    let make = || open(name, flags, Mode::from_raw_mode(0o666));
    let mut file = make()?;
    for _ in 0..TRIES {
        if numbers_until(FILE_BUCKET, fstat(&file)?.st_ino) == 0 {
            break;
        }
        unlink(name)?;
        file = make()?;
    }
    expect_bytes(write(&file, b"x")?, 1)
}

/// Opens a file for reading.
pub fn open_to_read(name: &CStr) -> Result<OwnedFd, Fault> {
    Ok(open(name, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?)
}
