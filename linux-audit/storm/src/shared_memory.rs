//! What the storm's processes share: memory, console messages, children.

use std::io;
use std::ptr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::SeqCst};

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};

/// Most calls of a survey for each user.
pub const SURVEYED: usize = 64;
/// The users of a survey.
pub const USERS: [u32; 4] = [2000, 3000, 3001, 3002];
/// The number of sentinels.
pub const SENTINELS: usize = 6;

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
    QuietCalls: "calls that no rule can match",
    Calls32: "calls by 32-bit entry",
    Beyond: "calls with numbers beyond the table",
    Programs: "programs executed",
    Uring: "operations of io_uring",
    Heard: "records of sentinels, each exactly once",
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
    Surveys: "surveys of what is decided",
    Decisions: "decisions compared",
    Faults: "faults",
}

/// One sentinel's numbers: the last call made, and the last one recorded.
pub struct Sentinel {
    pub made: AtomicU64,
    pub heard: AtomicU64,
}

/// The memory that all processes share; zeroes at the start.
pub struct Shared {
    counts: [AtomicU64; TITLES.len()],
    /// Not 0: all processes end.
    pub stop: AtomicU32,
    pub sentinels: [Sentinel; SENTINELS],
    /// The record of each call of a survey, 0 for none; see `survey`.
    pub survey: [[AtomicU64; SURVEYED]; USERS.len()],
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

    pub fn goes_on(&self) -> bool {
        self.stop.load(SeqCst) == 0
    }

    /// Reports a fault.
    pub fn fault(&self, message: &str) {
        let told = self.counts[Count::Faults as usize].fetch_add(1, SeqCst);
        if told < 100 {
            say(&format!("FAULT: {message}"));
        }
    }
}

/// Writes a line to the console, at once.
pub fn say(message: &str) {
    let line = format!("storm: {message}\n");
    // SAFETY: reads the line.
    unsafe { libc::write(2, line.as_ptr().cast(), line.len()) };
}

/// Starts a process that does something and ends; returns its id.
///
/// The storm's processes have one thread each, so a forked copy has no restrictions.
pub fn spawn(job: impl FnOnce()) -> i32 {
    // SAFETY: there are no other threads, whose locks the copy could wait for.
    match unsafe { libc::fork() } {
        0 => {
            job();
            // The exit may be recorded, too. `_exit` leaves in the fourth argument's register what
            // is there, which may be the mark of the last call.
            // SAFETY: ends the process.
            unsafe { libc::syscall(libc::SYS_exit_group, 0, 0, 0, 0) };
            unreachable!("exit_group has returned")
        }
        pid if pid > 0 => pid,
        _ => panic!("fork: {}", io::Error::last_os_error()),
    }
}

/// Waits for a child; returns whether it ended by itself, with status 0.
pub fn wait(pid: i32) -> bool {
    let mut status = 0;
    // SAFETY: writes to `status`.
    while unsafe { libc::waitpid(pid, &raw mut status, 0) } < 0 {
        let error = io::Error::last_os_error();
        assert!(error.kind() == io::ErrorKind::Interrupted, "waitpid: {error}");
    }
    status == 0
}

/// Becomes another user and group permanently; root's rights stay if the user is 0.
pub fn become_user(user: u32, group: u32) {
    // SAFETY: changes this process alone, which has one thread.
    let failed = unsafe { libc::setresgid(group, group, group) != 0 }
        // SAFETY: as above.
        || unsafe { libc::setresuid(user, user, user) != 0 };
    assert!(!failed, "becoming user {user}: {}", io::Error::last_os_error());
}

/// Sleeps for that many milliseconds.
pub fn pause(milliseconds: u64) {
    std::thread::sleep(std::time::Duration::from_millis(milliseconds));
}
