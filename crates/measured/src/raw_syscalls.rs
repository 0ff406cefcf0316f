//! System calls without the C library, as they are measured.

use core::arch::asm;

/// Why a measured operation failed. Made without allocating, so it may arise inside a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The kernel's error number.
    Errno(i32),
    /// The call succeeded with a wrong result.
    Wrong(&'static str),
}

impl Fault {
    /// The error in the kernel's negative result.
    #[cold]
    fn new(result: isize) -> Self {
        i32::try_from(-result).map_or(Self::Wrong("an error number out of range"), Self::Errno)
    }
}

impl From<rustix::io::Errno> for Fault {
    fn from(error: rustix::io::Errno) -> Self {
        Self::Errno(error.raw_os_error())
    }
}

/// Makes a system call; the missing arguments are 0.
///
/// # Errors
///
/// The kernel refuses it.
///
/// # Safety
///
/// As for the system call: what it reads or writes must be valid for that.
#[inline]
pub unsafe fn syscall<const N: usize>(
    number: libc::c_long,
    arguments: [usize; N],
) -> Result<usize, Fault> {
    const { assert!(N <= 6, "a system call has at most six arguments") }
    let argument = |index: usize| arguments.get(index).copied().unwrap_or(0);
    let result: isize;
    // SAFETY: the kernel preserves all registers but those named; the caller vouches for the rest.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number => result,
            in("rdi") argument(0),
            in("rsi") argument(1),
            in("rdx") argument(2),
            in("r10") argument(3),
            in("r8") argument(4),
            in("r9") argument(5),
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    // The kernel returns a negative error number, of which there are at most 4095.
    if (-4095..0).contains(&result) { Err(Fault::new(result)) } else { Ok(unsigned(result)) }
}

/// The same bits as a number without a sign; costs no instruction.
#[inline]
const fn unsigned(number: isize) -> usize {
    usize::from_ne_bytes(number.to_ne_bytes())
}

/// A number as an argument of a system call.
#[inline]
#[must_use]
pub const fn word(number: i32) -> usize {
    unsigned(number as isize)
}

/// Makes sure that a call moved as many bytes as it was asked to.
///
/// # Errors
///
/// It did not.
#[inline]
pub fn expect_bytes(moved: usize, asked: usize) -> Result<(), Fault> {
    if moved == asked {
        Ok(())
    } else {
        Err(Fault::Wrong("moved another number of bytes than asked"))
    }
}

/// Splits the process as `fork` does, by `clone`: 0 in the child, its id in the parent.
///
/// # Errors
///
/// The kernel refuses it.
///
/// # Safety
///
/// The child must only make system calls and end by [`exit`]: it has but this one thread, and must
/// not run what the parent would clean up at its end.
#[inline]
pub unsafe fn fork() -> Result<i32, Fault> {
    // SAFETY: without shared memory and without a stack of its own, the child continues on a copy.
    let pid = unsafe { syscall(libc::SYS_clone, [word(libc::SIGCHLD)]) }?;
    i32::try_from(pid).map_err(|_| Fault::Wrong("a process id out of range"))
}

/// Ends the process at once.
pub fn exit(status: u8) -> ! {
    loop {
        // SAFETY: touches no memory.
        let _ = unsafe { syscall(libc::SYS_exit_group, [usize::from(status)]) };
    }
}

/// Waits for a child's end and returns its wait status.
///
/// # Errors
///
/// There is no such child.
#[inline]
pub fn wait(pid: i32) -> Result<i32, Fault> {
    let mut status = 0_i32;
    // SAFETY: writes to `status` alone.
    unsafe { syscall(libc::SYS_wait4, [word(pid), &raw mut status as usize]) }?;
    Ok(status)
}

#[cfg(test)]
mod tests {
    use super::{Fault, syscall};

    #[test]
    fn an_error_comes_with_its_number() {
        // SAFETY: closing a descriptor that cannot exist touches nothing.
        let closed = unsafe { syscall(libc::SYS_close, [usize::MAX]) };
        assert_eq!(closed, Err(Fault::Errno(libc::EBADF)));
    }
}
