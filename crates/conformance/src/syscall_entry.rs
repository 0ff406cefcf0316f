//! The two entries into the kernel, by the architecture of a battery's call.

use hardcost_linux::gate;

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
            Arch::B64 => gate::by_syscall(number, arguments),
            Arch::B32 => gate::by_interrupt(number, arguments),
        }
    }
}
