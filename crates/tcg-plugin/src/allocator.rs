//! What Rust's standard library does in other programs: memory, and the end after a fault.

use core::alloc::{GlobalAlloc, Layout};
use core::ffi::c_void;
use core::panic::PanicInfo;

unsafe extern "C" {
    fn malloc(size: usize) -> *mut c_void;
    fn realloc(piece: *mut c_void, size: usize) -> *mut c_void;
    fn free(piece: *mut c_void);
    fn abort() -> !;
}

/// The C library's memory.
struct Memory;

#[global_allocator]
static MEMORY: Memory = Memory;

// SAFETY: the C library aligns to 16 bytes, more than what is here asks for.
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: any size will do.
        unsafe { malloc(layout.size()) }.cast()
    }

    unsafe fn dealloc(&self, piece: *mut u8, _: Layout) {
        // SAFETY: it came from `malloc`.
        unsafe { free(piece.cast()) };
    }

    unsafe fn realloc(&self, piece: *mut u8, _: Layout, size: usize) -> *mut u8 {
        // SAFETY: it came from `malloc`.
        unsafe { realloc(piece.cast(), size) }.cast()
    }
}

#[panic_handler]
fn panicked(_: &PanicInfo<'_>) -> ! {
    // SAFETY: ends QEMU, which is reported.
    unsafe { abort() }
}
