//! Files that calls need.

use core::ffi::CStr;

use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, fstat, open, unlink};
use rustix::io::write;

use crate::filelists;
use crate::sys::{Fault, expect_bytes};

/// Makes a file, with one byte in it, that has the same list of audit rules in each guest.
pub fn file(name: &CStr) -> Result<(), Fault> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC;
    let make = || open(name, flags, Mode::from_raw_mode(0o666));
    let mut file = make()?;
    for _ in 0..filelists::TRIES {
        if filelists::of(fstat(&file)?.st_ino) == filelists::FILE {
            break;
        }
        unlink(name)?;
        file = make()?;
    }
    expect_bytes(write(&file, b"x")?, 1)
}

/// Opens a file for reading.
pub fn opened(name: &CStr) -> Result<OwnedFd, Fault> {
    Ok(open(name, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?)
}
