//! Reading and writing a file by the C library, which QEMU has loaded: the plugin has no standard
//! library.

use alloc::vec::Vec;
use core::ffi::{CStr, c_char, c_int, c_void};

const READ: c_int = 0;
/// Write only, created, and truncated.
const WRITE: c_int = 0o1 | 0o100 | 0o1000;
const MODE: c_int = 0o600;
/// Bytes that are read at a time.
const PIECE: usize = 1 << 20;

unsafe extern "C" {
    fn open(path: *const c_char, flags: c_int, ...) -> c_int;
    fn read(file: c_int, into: *mut c_void, most: usize) -> isize;
    fn write(file: c_int, from: *const c_void, length: usize) -> isize;
    fn close(file: c_int) -> c_int;
}

/// The content of a file; `None` if it can't be read.
pub fn read_all(path: &CStr) -> Option<Vec<u8>> {
    let mut content = Vec::new();
    // SAFETY: the path ends with a zero.
    let file = unsafe { open(path.as_ptr(), READ) };
    if file < 0 {
        return None;
    }
    let whole = loop {
        let end = content.len();
        content.resize(end + PIECE, 0);
        // SAFETY: there is room for so many bytes.
        let got = unsafe { read(file, content[end..].as_mut_ptr().cast(), PIECE) };
        content.truncate(end + usize::try_from(got).unwrap_or(0));
        if got <= 0 {
            break got == 0;
        }
    };
    // SAFETY: it is open. The content is complete whatever `close` returns.
    unsafe { close(file) };
    whole.then_some(content)
}

/// Writes a file as far as possible. The reader notices if its end is missing.
pub fn write_all(path: &CStr, mut content: &[u8]) {
    // SAFETY: the path ends with a zero.
    let file = unsafe { open(path.as_ptr(), WRITE, MODE) };
    while file >= 0 && !content.is_empty() {
        // SAFETY: there are so many bytes.
        let wrote = unsafe { write(file, content.as_ptr().cast(), content.len()) };
        match usize::try_from(wrote) {
            Ok(wrote) if wrote > 0 => content = &content[wrote..],
            _ => break,
        }
    }
    if file >= 0 {
        // SAFETY: it is open.
        unsafe { close(file) };
    }
}
