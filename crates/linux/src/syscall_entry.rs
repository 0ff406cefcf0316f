//! The two entry points of the kernel, for calls with any number and arguments.

use std::arch::asm;

/// Makes a system call by the 64-bit entry and returns the kernel's result.
///
/// # Safety
///
/// As for the system call: all memory that it reads or writes must be valid.
#[must_use]
pub unsafe fn by_syscall(number: i64, arguments: &[usize; 6]) -> i64 {
    let result: i64;
    // SAFETY: the kernel preserves all registers but those named; the caller vouches for the rest.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number => result,
            in("rdi") arguments[0],
            in("rsi") arguments[1],
            in("rdx") arguments[2],
            in("r10") arguments[3],
            in("r8") arguments[4],
            in("r9") arguments[5],
            lateout("rcx") _,
            lateout("r11") _,
        );
    }
    result
}

/// Makes a system call by the 32-bit entry, which 64-bit programs can use too, and returns the
/// kernel's result. The kernel sees the lower half of each argument.
///
/// # Safety
///
/// As for [`by_syscall`].
#[must_use]
pub unsafe fn by_interrupt(number: i64, arguments: &[usize; 6]) -> i64 {
    let result: i64;
    // SAFETY: the compiler keeps rbx and rbp for itself, so they are saved; r12 is left alone. The
    // caller vouches for the rest.
    unsafe {
        asm!(
            "push rbx",
            "push rbp",
            "mov ebx, [r12]",
            "mov ecx, [r12 + 8]",
            "mov edx, [r12 + 16]",
            "mov esi, [r12 + 24]",
            "mov edi, [r12 + 32]",
            "mov ebp, [r12 + 40]",
            "int 0x80",
            "pop rbp",
            "pop rbx",
            inlateout("rax") number => result,
            in("r12") arguments.as_ptr(),
            out("rcx") _,
            out("rdx") _,
            out("rsi") _,
            out("rdi") _,
            out("r8") _,
            out("r9") _,
            out("r10") _,
            out("r11") _,
        );
    }
    // 32 bits are what such a program would see.
    #[expect(clippy::cast_possible_truncation, reason = "meant")]
    i64::from(result as i32)
}

#[cfg(test)]
mod tests {
    use super::{by_interrupt, by_syscall};

    /// The number of getppid by the 32-bit entry.
    const GETPPID_32: i64 = 64;

    #[test]
    fn the_native_entry_passes_arguments_and_result() {
        // SAFETY: closing a descriptor that cannot exist touches nothing.
        let result = unsafe { by_syscall(libc::SYS_close, &[usize::MAX, 0, 0, 0, 0, 0]) };
        assert_eq!(result, -i64::from(libc::EBADF));
    }

    #[test]
    fn both_entries_know_the_parent() {
        let parent = i64::from(std::os::unix::process::parent_id());
        // SAFETY: it takes no arguments.
        let native = unsafe { by_syscall(libc::SYS_getppid, &[0; 6]) };
        assert_eq!(native, parent);
        // SAFETY: as above.
        let other = unsafe { by_interrupt(GETPPID_32, &[0; 6]) };
        assert!(other == parent || other == -i64::from(libc::ENOSYS), "{other}");
    }
}
