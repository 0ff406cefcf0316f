//! Files that calls need.

use core::ffi::CStr;

use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, fstat, open, unlink};
use rustix::io::write;

use crate::sys::{Fault, expect_bytes};

/// The kernel keeps audit rules on files in so many lists, by the file's inode number: a call on any
/// file walks the rules in that file's list.
pub const LISTS: u64 = 32;
/// The list in which a file is. Without a choice it would be another in each guest, since processes
/// and sockets take inode numbers as well, and so would the cost of rules on other files.
const LIST: u64 = LISTS - 1;
/// A file system may give the same numbers again and again.
const TRIES: u64 = 4 * LISTS;

/// Makes a file, with one byte in it.
pub fn file(name: &CStr) -> Result<(), Fault> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC;
    for attempt in 1.. {
        let file = open(name, flags, Mode::from_raw_mode(0o666))?;
        if fstat(&file)?.st_ino % LISTS == LIST || attempt == TRIES {
            expect_bytes(write(&file, b"x")?, 1)?;
            break;
        }
        unlink(name)?;
    }
    Ok(())
}

/// Opens a file for reading.
pub fn opened(name: &CStr) -> Result<OwnedFd, Fault> {
    Ok(open(name, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?)
}
