//! Files that calls need before they can be measured.

use core::ffi::CStr;

use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, fstat, open, unlink};
use rustix::io::write;

use crate::audit_inode_buckets;
use crate::raw_syscalls::{Fault, expect_bytes};

/// Creates a file with one byte, in the same bucket of audit rules in each guest.
pub fn create_file(name: &CStr) -> Result<(), Fault> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC;
    let make = || open(name, flags, Mode::from_raw_mode(0o666));
    let mut file = make()?;
    for _ in 0..audit_inode_buckets::TRIES {
        if audit_inode_buckets::bucket(fstat(&file)?.st_ino) == audit_inode_buckets::FILE_BUCKET {
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
    let mut last = None;
    for _ in 0..audit_inode_buckets::TRIES {
        let Ok(file) = open(c".", flags, Mode::from_raw_mode(0o600)) else { break };
        let number = fstat(&file)?.st_ino;
        let next = audit_inode_buckets::bucket(number.wrapping_add(1));
        if next == audit_inode_buckets::FILE_BUCKET || last == Some(number) {
            break;
        }
        last = Some(number);
    }
    Ok(())
}

/// Opens a file for reading.
pub fn open_to_read(name: &CStr) -> Result<OwnedFd, Fault> {
    Ok(open(name, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?)
}
