//! A system call of a battery, by the entry into the kernel that its architecture names.

use hardcost_linux::syscall_entry::{by_interrupt, by_syscall};

use crate::job::Arch;

/// Makes a system call and returns what the kernel answers.
///
/// # Safety
///
/// As for the system call: what it reads or writes must be valid for that.
pub unsafe fn call(arch: Arch, number: i64, arguments: &[usize; 6]) -> i64 {
    // SAFETY: as for this function.
    unsafe {
        match arch {
            Arch::B64 => by_syscall(number, arguments),
            Arch::B32 => by_interrupt(number, arguments),
        }
    }
}
