//! The kernel's buckets of audit rules on files, by inode number.
//!
//! There are 32. A call on a file walks the rules in the bucket of the file's inode number. A new
//! file's number depends on how many were made before, and would decide the cost of rules on other
//! files. So a measured file is made again until its bucket is the same for each call and in each
//! guest.

/// How many buckets there are.
const BUCKETS: u64 = 32;
/// How often to make a file at most: a file system may reuse the same numbers.
pub const TRIES: u32 = 128;
/// The bucket of a measured file.
pub const FILE_BUCKET: u64 = BUCKETS - 1;
/// The bucket of the directory that it is in.
pub const DIRECTORY_BUCKET: u64 = BUCKETS - 2;

/// The bucket of an inode number.
#[must_use]
pub const fn bucket(inode: u64) -> u64 {
    inode % BUCKETS
}
