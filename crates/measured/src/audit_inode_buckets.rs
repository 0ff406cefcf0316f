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

/// How many inode numbers further the next in the bucket is; 0: this one is in it.
#[must_use]
pub const fn numbers_until(bucket: u64, inode: u64) -> u64 {
    (BUCKETS + bucket - inode % BUCKETS) % BUCKETS
}

#[cfg(test)]
mod tests {
    use super::{FILE_BUCKET, numbers_until};

    #[test]
    fn the_next_number_in_a_bucket_is_less_than_a_round_away() {
        for inode in 1000..1100 {
            let missing = numbers_until(FILE_BUCKET, inode);
            assert!(missing < 32);
            assert_eq!((inode + missing) % 32, FILE_BUCKET);
        }
    }
}
