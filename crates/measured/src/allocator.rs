//! The allocator, and the memory functions that the compiler calls: the program has no C library.
//!
//! Each function is as short as can be. None may allocate, or call another library.

use core::alloc::{GlobalAlloc, Layout};
use core::arch::asm;
use core::cell::Cell;
use core::ptr;

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// How much memory to map at a time, in bytes; small pieces are cut from it.
const CHUNK: usize = 64 << 10;
/// A larger piece gets a mapping of its own.
const SMALL: usize = CHUNK / 4;

/// The allocator. It never takes small pieces back: the process does one task, and ends.
struct Allocator {
    next: Cell<usize>,
    end: Cell<usize>,
}

// SAFETY: the program has one thread, and no handler of signals allocates.
unsafe impl Sync for Allocator {}

#[global_allocator]
static ALLOCATOR: Allocator = Allocator { next: Cell::new(0), end: Cell::new(0) };

/// Maps memory; null if that fails.
fn map(length: usize) -> *mut u8 {
    let protection = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a new mapping, at an address that the kernel chooses.
    unsafe { mmap_anonymous(ptr::null_mut(), length, protection, MapFlags::PRIVATE) }
        .map_or(ptr::null_mut(), <*mut _>::cast)
}

// SAFETY: pieces do not overlap within mappings of their own, and have the alignment asked for. No
// request asks for more than a page's.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() > SMALL {
            return map(layout.size());
        }
        let mut start = self.next.get().next_multiple_of(layout.align());
        if start + layout.size() > self.end.get() {
            start = map(CHUNK).expose_provenance();
            if start == 0 {
                return ptr::null_mut();
            }
            self.end.set(start + CHUNK);
        }
        self.next.set(start + layout.size());
        ptr::with_exposed_provenance_mut(start)
    }

    unsafe fn dealloc(&self, piece: *mut u8, layout: Layout) {
        if layout.size() > SMALL {
            // SAFETY: it has a mapping of its own, and is not used any more.
            let _ = unsafe { munmap(piece.cast(), layout.size()) };
        }
    }
}

/// Copies bytes that do not overlap.
///
/// # Safety
///
/// As for C's `memcpy`.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, count: usize) -> *mut u8 {
    // SAFETY: reads and writes just those bytes; the direction flag is clear.
    unsafe {
        asm!("rep movsb", inout("rdi") to => _, inout("rsi") from => _, inout("rcx") count => _,
            options(nostack, preserves_flags));
    }
    to
}

/// Copies bytes that may overlap.
///
/// # Safety
///
/// As for C's `memmove`.
#[unsafe(no_mangle)]
unsafe extern "C" fn memmove(to: *mut u8, from: *const u8, count: usize) -> *mut u8 {
    if (to as usize).wrapping_sub(from as usize) >= count {
        // SAFETY: forwards, nothing is overwritten before it is read.
        return unsafe { memcpy(to, from, count) };
    }
    // SAFETY: the same bytes from the last to the first; the direction flag is cleared again.
    unsafe {
        asm!("std", "rep movsb", "cld",
            inout("rdi") to.wrapping_add(count).wrapping_sub(1) => _,
            inout("rsi") from.wrapping_add(count).wrapping_sub(1) => _,
            inout("rcx") count => _, options(nostack));
    }
    to
}

/// Fills bytes.
///
/// # Safety
///
/// As for C's `memset`.
#[unsafe(no_mangle)]
unsafe extern "C" fn memset(to: *mut u8, value: i32, count: usize) -> *mut u8 {
    // SAFETY: writes just those bytes; the direction flag is clear.
    unsafe {
        asm!("rep stosb", inout("rdi") to => _, inout("rcx") count => _, in("al") value.to_le_bytes()[0],
            options(nostack, preserves_flags));
    }
    to
}

/// Compares bytes.
///
/// # Safety
///
/// As for C's `memcmp`.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcmp(one: *const u8, other: *const u8, count: usize) -> i32 {
    for at in 0..count {
        // SAFETY: within both.
        let (left, right) = unsafe { (one.add(at).read_volatile(), other.add(at).read_volatile()) };
        if left != right {
            return i32::from(left) - i32::from(right);
        }
    }
    0
}

/// The number of bytes before the first 0.
///
/// # Safety
///
/// As for C's `strlen`.
#[unsafe(no_mangle)]
unsafe extern "C" fn strlen(text: *const u8) -> usize {
    let mut length = 0;
    // SAFETY: up to the byte that is 0.
    while unsafe { text.add(length).read_volatile() } != 0 {
        length += 1;
    }
    length
}

/// Whether bytes differ.
///
/// # Safety
///
/// As for `memcmp`.
#[unsafe(no_mangle)]
unsafe extern "C" fn bcmp(one: *const u8, other: *const u8, count: usize) -> i32 {
    // SAFETY: the same.
    unsafe { memcmp(one, other, count) }
}
