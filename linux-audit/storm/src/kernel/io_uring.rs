//! A minimal `io_uring` client: it opens files, one at a time.

use std::io;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use crate::kernel::syscalls::CPath;

const SETUP: i64 = 425;
const ENTER: i64 = 426;
const OPEN: u32 = 18;
const CLOSE: u32 = 19;
const GET_EVENTS: u32 = 1;
const AT_FDCWD: i32 = -100;
const ENTRIES: u32 = 4;
const RING_SIZE: usize = 4096;
const WORD: usize = 4; // bytes
const ENTRY: usize = 16; // words of an entry
const RESULT: usize = 4; // words of a result
const OFFSET_CQ: i64 = 0x800_0000;
const OFFSET_ENTRIES: i64 = 0x1000_0000;

/// Offsets within `struct io_uring_params`, in words of 32 bits.
const SQ: usize = 10;
const CQ: usize = 20;

/// A ring of its own process.
pub struct Ring {
    descriptor: i32,
    submitted: *mut u32,
    completed: *mut u32,
    entries: *mut u32,
    offsets: [u32; 30],
}

impl Ring {
    pub fn new() -> io::Result<Self> {
        let mut offsets = [0_u32; 30];
        // SAFETY: the kernel fills the 120 bytes.
        let made = unsafe { libc::syscall(SETUP, ENTRIES, offsets.as_mut_ptr()) };
        let descriptor = i32::try_from(made).ok().filter(|&made| made >= 0);
        let descriptor = descriptor.ok_or_else(io::Error::last_os_error)?;
        let map = |offset| {
            let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
            // SAFETY: new memory, which stays as long as the process does.
            let place = unsafe {
                libc::mmap(ptr::null_mut(), RING_SIZE, protection, flags, descriptor, offset)
            };
            if place == libc::MAP_FAILED {
                Err(io::Error::last_os_error())
            } else {
                Ok(place.cast())
            }
        };
        let (submitted, completed) = (map(0)?, map(OFFSET_CQ)?);
        Ok(Self { descriptor, submitted, completed, entries: map(OFFSET_ENTRIES)?, offsets })
    }

    /// Opens a file and closes it again.
    pub fn open(&mut self, place: &CPath) -> io::Result<()> {
        let found = self.carry_out(OPEN, AT_FDCWD, place.address() as u64)?;
        if found < 0 {
            return Err(io::Error::from_raw_os_error(-found));
        }
        self.carry_out(CLOSE, found, 0).map(drop)
    }

    fn carry_out(&mut self, what: u32, descriptor: i32, address: u64) -> io::Result<i32> {
        let [tail, mask, array] = [1, 2, 6].map(|at| self.offsets[SQ + at] as usize / WORD);
        let [head, cq_mask, cqes] = [0, 2, 5].map(|at| self.offsets[CQ + at] as usize / WORD);
        // SAFETY: these are the kernel's offsets into memory that it shares with us; this process
        // has one thread, and one operation is in flight at a time.
        unsafe {
            let tail = AtomicU32::from_ptr(self.submitted.add(tail));
            let slot = tail.load(SeqCst) & self.submitted.add(mask).read();
            let entry = self.entries.add(slot as usize * ENTRY);
            entry.write_bytes(0, ENTRY);
            entry.write(what);
            entry.add(1).write(u32::from_ne_bytes(descriptor.to_ne_bytes()));
            for (at, half) in [address & u64::from(u32::MAX), address >> 32].iter().enumerate() {
                entry.add(4 + at).write(u32::try_from(*half).unwrap_or(0));
            }
            self.submitted.add(array + slot as usize).write(slot);
            tail.fetch_add(1, SeqCst);
            let nothing = ptr::null::<u8>();
            if libc::syscall(ENTER, self.descriptor, 1, 1, GET_EVENTS, nothing, 0) < 0 {
                return Err(io::Error::last_os_error());
            }
            let head = AtomicU32::from_ptr(self.completed.add(head));
            let slot = head.load(SeqCst) & self.completed.add(cq_mask).read();
            let found = self.completed.add(cqes + slot as usize * RESULT + 2).read();
            head.fetch_add(1, SeqCst);
            Ok(i32::from_ne_bytes(found.to_ne_bytes()))
        }
    }
}
