//! Calls that change the address space, and page faults.

use core::ptr;

use crate::call::{Call, CallSetup};
use crate::raw_syscalls::{Fault, syscall, word};

pub const PAGE: usize = 4096;
/// What one page table covers.
const SPAN: usize = 2 << 20;

/// Maps anonymous private memory and returns its address.
#[inline]
fn map(length: usize) -> Result<usize, Fault> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    let arguments = [0, length, word(protection), word(flags), usize::MAX, 0];
    // SAFETY: a new mapping, at an address that the kernel chooses.
    unsafe { syscall(libc::SYS_mmap, arguments) }
}

/// `mmap`: mmap of 64 KiB of anonymous memory that is never touched, munmap.
pub struct Mmap;

impl Call for Mmap {
    fn prepare(_: &CallSetup) -> Result<Self, Fault> {
        Ok(Self)
    }

    #[inline]
    fn operate(&mut self) -> Result<(), Fault> {
        let length = 64 << 10;
        let start = map(length)?;
        // SAFETY: unmaps just what was mapped.
        unsafe { syscall(libc::SYS_munmap, [start, length]) }.map(drop)
    }
}

/// `page-fault`: the first write to a page of anonymous memory; no huge pages.
///
/// Before each window madvise gives the pages back. The page tables stay, so that a window pays for
/// its pages alone, and not sometimes for a table.
pub struct PageFault {
    start: usize,
    length: usize,
    next: usize,
}

impl Call for PageFault {
    fn prepare(setup: &CallSetup) -> Result<Self, Fault> {
        let length = setup.batch as usize * PAGE;
        // From where a table begins, so that a small window needs no second table.
        let start = map(length + SPAN)?.next_multiple_of(SPAN);
        let pages = Self { start, length, next: start };
        match pages.advise(libc::MADV_NOHUGEPAGE) {
            // A kernel without huge pages does not know the advice.
            Ok(()) | Err(Fault::Errno(libc::EINVAL)) => Ok(pages),
            Err(fault) => Err(fault),
        }
    }

    fn before(&mut self) -> Result<(), Fault> {
        self.next = self.start;
        self.advise(libc::MADV_DONTNEED)
    }

    #[inline]
    fn operate(&mut self) -> Result<(), Fault> {
        // SAFETY: within the mapping, as there are as many pages as operations in a window.
        unsafe { ptr::with_exposed_provenance_mut::<u8>(self.next).write_volatile(1) };
        self.next += PAGE;
        Ok(())
    }
}

impl PageFault {
    fn advise(&self, advice: i32) -> Result<(), Fault> {
        // SAFETY: the memory holds nothing that is read.
        unsafe { syscall(libc::SYS_madvise, [self.start, self.length, word(advice)]) }.map(drop)
    }
}
