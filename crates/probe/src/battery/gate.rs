//! The two gates into the kernel, for calls with any number and arguments.

use std::arch::asm;

use super::job::Arch;

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

unsafe fn by_syscall(number: i64, arguments: &[usize; 6]) -> i64 {
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

unsafe fn by_interrupt(number: i64, arguments: &[usize; 6]) -> i64 {
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
    use super::{Arch, call};

    #[test]
    fn the_native_gate_passes_arguments_and_result() {
        // SAFETY: closing a descriptor that cannot exist touches nothing.
        let result = unsafe { call(Arch::B64, libc::SYS_close, &[usize::MAX, 0, 0, 0, 0, 0]) };
        assert_eq!(result, -i64::from(libc::EBADF));
    }
}
