//! The measured program. It starts without Rust's standard library and the C library; everything
//! else is in this crate's library.

#![no_std]
#![no_main]

mod allocator;

use core::arch::global_asm;
use core::fmt::{self, Write};
use core::panic::PanicInfo;

use hardcost_measured::{raw_syscalls, run_task};
use rustix::stdio::stderr;

// The kernel starts a program with its arguments on the stack, aligned to 16 bytes.
global_asm!(".globl _start", "_start:", "xor ebp, ebp", "call {begin}", "ud2", begin = sym begin);

extern "C" fn begin() -> ! {
    raw_syscalls::exit(run_task::run())
}

/// Standard error, which the probe reads.
struct Complaint;

impl Write for Complaint {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // SAFETY: the stream is never closed.
        let stream = unsafe { stderr() };
        rustix::io::write(stream, text.as_bytes()).map(drop).map_err(|_| fmt::Error)
    }
}

#[panic_handler]
fn panicked(panic: &PanicInfo<'_>) -> ! {
    let _ = writeln!(Complaint, "hardcost-measured has a fault: {panic}");
    raw_syscalls::exit(101)
}
