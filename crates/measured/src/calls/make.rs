//! Files that calls need.

use core::ffi::CStr;

use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::write;

use crate::sys::{Fault, expect_bytes};

/// Makes a file, with one byte in it.
pub fn file(name: &CStr) -> Result<(), Fault> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC;
    let file = open(name, flags, Mode::from_raw_mode(0o666))?;
    expect_bytes(write(&file, b"x")?, 1)
}

/// Opens a file for reading.
pub fn opened(name: &CStr) -> Result<OwnedFd, Fault> {
    Ok(open(name, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?)
}
