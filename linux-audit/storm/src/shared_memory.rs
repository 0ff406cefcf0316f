//! The memory that all processes share: counts, the numbers of numbered calls, the decisions that
//! were recorded, and the word that ends a round.

use std::io;
use std::ptr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::SeqCst};

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};

use crate::console::say;

/// Most calls whose decisions are compared, for each user.
pub const DECIDED_CALLS: usize = 64;
/// The users that make them.
pub const USERS: [u32; 4] = [2000, 3000, 3001, 3002];
/// The number of processes that number their calls.
pub const NUMBERED_CALLERS: usize = 6;

macro_rules! counts {
    ($($name:ident: $title:literal,)+) => {
        /// Something that is counted.
        #[derive(Clone, Copy)]
        pub enum Count { $($name,)+ }

        /// Their names.
        pub const TITLES: &[&str] = &[$($title,)+];
    };
}

counts! {
    Calls: "calls made beside the rules' changes",
    UnmatchedCalls: "calls that no rule can match",
    Calls32: "calls by 32-bit entry",
    Beyond: "calls with numbers beyond the table",
    Programs: "programs executed",
    Uring: "operations of io_uring",
    NumberedRecords: "records of numbered calls, each exactly once",
    Records: "records of calls in all",
    Added: "rules added",
    Deleted: "rules deleted",
    Duplicates: "rules refused as duplicates",
    Absent: "deletions of what was not there",
    Refused: "rules refused otherwise",
    Bursts: "sets of hundreds of rules loaded and deleted",
    Listed: "lists of all rules read",
    Trimmed: "trees trimmed",
    Equivalent: "directories made equivalent",
    Directories: "watched directories removed",
    Mounts: "file systems with watched directories unmounted",
    Executables: "executables of rules replaced or removed with their directory",
    Watched: "watched files replaced or removed",
    Moved: "directories moved or removed while their rules were made",
    Policies: "policies loaded",
    Booleans: "booleans of the policy changed",
    Enforced: "changes to enforcing",
    Injected: "allocations that failed on demand",
    Failed: "rules refused for want of memory",
    Survived: "rules loaded although an allocation failed",
    Starved: "rules added with all later allocations failing",
    Missing: "rules that the index lacked when decisions were compared",
    Comparisons: "comparisons of decisions",
    Decisions: "decisions compared",
    Faults: "faults",
}

/// How far a process that numbers its calls is: the last call made, and the last one recorded.
pub struct NumberedCalls {
    pub made: AtomicU64,
    pub recorded: AtomicU64,
}

/// The memory that all processes share; zeroes at the start.
pub struct Shared {
    counts: [AtomicU64; TITLES.len()],
    /// Not 0: all processes of the round end.
    pub stop: AtomicU32,
    pub numbered_calls: [NumberedCalls; NUMBERED_CALLERS],
    /// The digest of each call's record, 0 for none; see `decisions`.
    pub decisions: [[AtomicU64; DECIDED_CALLS]; USERS.len()],
}

impl Shared {
    /// Memory that this process and its children share.
    pub fn new() -> io::Result<&'static Self> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: new memory of zeroes, which are good for atomic numbers, that is never unmapped.
        unsafe {
            let place =
                mmap_anonymous(ptr::null_mut(), size_of::<Self>(), protection, MapFlags::SHARED)?;
            Ok(&*place.cast::<Self>())
        }
    }

    pub fn add(&self, what: Count, number: u64) {
        self.counts[what as usize].fetch_add(number, SeqCst);
    }

    pub fn count(&self, what: Count) {
        self.add(what, 1);
    }

    pub fn counted(&self, what: Count) -> u64 {
        self.counts[what as usize].load(SeqCst)
    }

    pub fn counted_at(&self, place: usize) -> u64 {
        self.counts[place].load(SeqCst)
    }

    pub fn is_running(&self) -> bool {
        self.stop.load(SeqCst) == 0
    }

    /// Reports a fault.
    pub fn fault(&self, message: &str) {
        let earlier = self.counts[Count::Faults as usize].fetch_add(1, SeqCst);
        if earlier < 100 {
            say(&format!("FAULT: {message}"));
        }
    }
}
