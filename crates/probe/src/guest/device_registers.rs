//! Registers of a device, reached by their physical address.

use std::fs::File;
use std::ptr;

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

const PAGE: usize = 4096;

/// A page of a device's registers.
pub struct Registers {
    start: *mut u32,
}

impl Registers {
    /// Maps the page at a physical address; needs `/dev/mem`, with the boot parameter
    /// `iomem=relaxed`.
    pub fn open(place: u64) -> Option<Self> {
        let memory = File::options().read(true).write(true).open("/dev/mem").ok()?;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping of a page of device registers, to which nothing else here refers.
        let start = unsafe {
            mmap(ptr::null_mut(), PAGE, protection, MapFlags::SHARED, &memory, place).ok()?
        };
        Some(Self { start: start.cast() })
    }

    /// Reads one.
    pub fn read(&self, register: usize) -> u32 {
        // SAFETY: within the page that `open` mapped; registers are 32 bits wide.
        unsafe { self.start.byte_add(register).read_volatile() }
    }

    /// Writes one.
    pub fn write(&self, register: usize, value: u32) {
        // SAFETY: as for `read`. The kernel itself writes such values there.
        unsafe { self.start.byte_add(register).write_volatile(value) }
    }
}

impl Drop for Registers {
    fn drop(&mut self) {
        // SAFETY: `open` mapped it, and nothing else refers to it.
        let _ = unsafe { munmap(self.start.cast(), PAGE) };
    }
}
