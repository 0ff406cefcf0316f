//! The allocator, by the C library's `malloc`, and the panic handler: the plugin has no standard
//! library.

use core::alloc::{GlobalAlloc, Layout};
use core::ffi::c_void;
use core::panic::PanicInfo;

unsafe extern "C" {
    fn malloc(size: usize) -> *mut c_void;
    fn realloc(piece: *mut c_void, size: usize) -> *mut c_void;
    fn free(piece: *mut c_void);
    fn abort() -> !;
}

/// The C library's allocator.
struct Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

// SAFETY: the C library aligns to 16 bytes, more than any request here needs.
unsafe impl GlobalAlloc for Allocator {
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
    // SAFETY: ends QEMU; hardcost reports that.
    unsafe { abort() }
}
