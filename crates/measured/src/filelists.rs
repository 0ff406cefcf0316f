//! The kernel's lists of audit rules on files.
//!
//! There are 32, and a file's inode number says which is the file's: a call on any file walks the
//! rules in its list. A new file's number depends on how many were made before, and with it the cost
//! of rules on other files. So what is measured is made again until its number leads to a list that is
//! the same for each call and in each guest.

/// How many there are.
const LISTS: u64 = 32;
/// How often to make something: a file system may give the same numbers again and again.
pub const TRIES: u32 = 128;
/// The list of a file that is measured.
pub const FILE: u64 = LISTS - 1;
/// The list of the directory in which it is.
pub const DIRECTORY: u64 = LISTS - 2;

/// The list of what has that inode number.
#[must_use]
pub const fn of(inode: u64) -> u64 {
    inode % LISTS
}
