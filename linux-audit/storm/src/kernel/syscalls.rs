//! System calls made directly, by the 64-bit or the 32-bit entry, with a mark that their records
//! show.

use std::ffi::CString;

use hardcost_linux::syscall_entry;

/// Numbers of 64-bit calls.
pub mod n64 {
    pub const READ: i64 = 0;
    pub const OPEN: i64 = 2;
    pub const CLOSE: i64 = 3;
    pub const STAT: i64 = 4;
    pub const LSEEK: i64 = 8;
    pub const IOCTL: i64 = 16;
    pub const ACCESS: i64 = 21;
    pub const NANOSLEEP: i64 = 35;
    pub const EXECVE: i64 = 59;
    pub const KILL: i64 = 62;
    pub const RENAME: i64 = 82;
    pub const MKDIR: i64 = 83;
    pub const RMDIR: i64 = 84;
    pub const UNLINK: i64 = 87;
    pub const CHMOD: i64 = 90;
    pub const GETUID: i64 = 102;
    pub const GETPPID: i64 = 110;
}

/// Numbers of 32-bit calls.
pub mod n32 {
    pub const CLOSE: i32 = 6;
    pub const ACCESS: i32 = 33;
    pub const GETPPID: i32 = 64;
    pub const FCHMOD: i32 = 94;
}

/// Makes a call by number; `mark` becomes the fourth argument (`a3` in a record).
///
/// The arguments are paths or small numbers, so that no number can do harm.
pub fn call(number: i64, [first, second, third]: [usize; 3], mark: u64) -> i64 {
    // SAFETY: the kernel checks each address; no call that is made here writes to memory other than
    // what the caller gave for it.
    unsafe { syscall_entry::by_syscall(number, &[first, second, third, word(mark), 0, 0]) }
}

/// Makes a call by the 32-bit entry.
pub fn call32(number: i32, first: u32, mark: u64) -> i64 {
    // SAFETY: as above.
    unsafe { syscall_entry::by_interrupt(number.into(), &[first as usize, 0, 0, word(mark), 0, 0]) }
}

fn word(mark: u64) -> usize {
    usize::from_ne_bytes(mark.to_ne_bytes())
}

/// A path as the kernel takes it; its address is stable.
pub struct CPath(CString);

impl CPath {
    pub fn new(path: &str) -> Self {
        Self(CString::new(path).expect("paths have no zeroes"))
    }

    pub fn address(&self) -> usize {
        self.0.as_ptr() as usize
    }
}

/// Opens a path for reading (or as `flags` say) and closes it again, which has no mark; returns
/// whether that worked.
pub fn open_close(path: &CPath, flags: usize, mark: u64) -> bool {
    let found = call(n64::OPEN, [path.address(), flags, 0o644], mark);
    let Ok(descriptor) = usize::try_from(found) else { return false };
    call(n64::CLOSE, [descriptor, 0, 0], 0);
    true
}

/// Executes the program that does nothing, in a child.
pub fn execute(path: &CPath, mark: u64) {
    let words = [path.address(), 0];
    let pid = crate::child::spawn(|| {
        call(
            n64::EXECVE,
            [path.address(), words.as_ptr() as usize, words[1..].as_ptr() as usize],
            mark,
        );
    });
    crate::child::wait(pid);
}
