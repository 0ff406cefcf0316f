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

/// Uses up inode numbers, so that the next new file is in the bucket of measured files.
///
/// Where numbers are given in order, as on tmpfs, files without a name use them up: they have no
/// names that audit rules look at. A file system that has no such files, or gives the same number
/// again, stays as it is.
pub fn prepare_next_number() -> Result<(), Fault> {
    let flags = OFlags::WRONLY | OFlags::TMPFILE | OFlags::CLOEXEC;
    let make = || open(c".", flags, Mode::from_raw_mode(0o600));
    let Ok(file) = make() else { return Ok(()) };
    let next = fstat(&file)?.st_ino.wrapping_add(1);
    for _ in 0..numbers_until(FILE_BUCKET, next) {
        make()?;
    }
    Ok(())
}

/// Opens a file for reading.
pub fn open_to_read(name: &CStr) -> Result<OwnedFd, Fault> {
    Ok(open(name, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?)
}
