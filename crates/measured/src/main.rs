//! The program that is measured. It begins without Rust's standard library and without the C
//! library; all that it does is in the library of this crate.

#![no_std]
#![no_main]

mod memory;

use core::arch::global_asm;
use core::fmt::{self, Write};
use core::panic::PanicInfo;

use hardcost_measured::{sys, task};
use rustix::stdio::stderr;

// The kernel begins a program with its arguments on the stack, aligned to 16 bytes.
global_asm!(".globl _start", "_start:", "xor ebp, ebp", "call {begin}", "ud2", begin = sym begin);

extern "C" fn begin() -> ! {
    sys::exit(task::run())
}

/// Standard error, which the probe reads.
struct Complaint;

impl Write for Complaint {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // SAFETY: nobody has closed it.
        let stream = unsafe { stderr() };
        rustix::io::write(stream, text.as_bytes()).map(drop).map_err(|_| fmt::Error)
    }
}

#[panic_handler]
fn panicked(panic: &PanicInfo<'_>) -> ! {
    let _ = writeln!(Complaint, "hardcost-measured has a fault: {panic}");
    sys::exit(101)
}
