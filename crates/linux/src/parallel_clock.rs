//! The clock of a guest with several emulated processors: what one of them could have executed.
//!
//! The time-stamp counter of such a guest counts what all processors execute together, so it is no
//! measure of time. A process on processor 0 does nothing but count, and is never held up. What it
//! has counted is how much time has passed. The probe keeps the counts in a page that other
//! programs may read.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

/// The page as a file. It is in memory, and ends with the guest.
pub const PATH: &str = "/run/hardcost-clock";

/// The most processors that can count.
pub const MOST: usize = PAGE / LINE - 1;

const PAGE: usize = 4096;
/// The distance from one processor's count to the next, in bytes.
const LINE: usize = 64;
/// The scale's binary digits behind the point.
const FRACTION: u32 = 16;

/// The page, mapped until the process ends.
#[derive(Debug)]
pub struct ParallelClock {
    /// The counts, the scale before them, in lines of their own.
    lines: *const AtomicU64,
}

// SAFETY: all access is atomic, but that of the process that counts.
unsafe impl Send for ParallelClock {}
// SAFETY: as above.
unsafe impl Sync for ParallelClock {}

impl ParallelClock {
    /// Makes the page; all in it is 0. What it returns may write.
    ///
    /// # Errors
    ///
    /// The system refuses the file.
    pub fn make() -> io::Result<Self> {
        let mut options = File::options();
        let file = options.read(true).write(true).create_new(true).mode(0o644).open(PATH)?;
        file.set_len(PAGE as u64)?;
        Self::map(&file, libc::PROT_READ | libc::PROT_WRITE)
    }

    /// Opens the page to read from it.
    ///
    /// # Errors
    ///
    /// The probe has made none.
    pub fn open() -> io::Result<Self> {
        Self::map(&File::open(PATH)?, libc::PROT_READ)
    }

    fn map(file: &File, protection: libc::c_int) -> io::Result<Self> {
        // SAFETY: a new mapping, which nothing else refers to.
        let start = unsafe {
            libc::mmap(ptr::null_mut(), PAGE, protection, libc::MAP_SHARED, file.as_raw_fd(), 0)
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { lines: start.cast() })
    }

    /// The line of that number.
    fn line(&self, number: usize) -> &AtomicU64 {
        assert!(number <= MOST, "there is no line {number}");
        // SAFETY: within the page, which stays mapped, and aligned.
        unsafe { &*self.lines.byte_add(number * LINE) }
    }

    /// What a processor has counted.
    #[must_use]
    pub fn count(&self, processor: usize) -> u64 {
        self.line(1 + processor).load(Ordering::Relaxed)
    }

    /// Where a processor counts.
    #[must_use]
    pub fn counter(&self, processor: usize) -> *mut u64 {
        self.line(1 + processor).as_ptr()
    }

    /// Sets how many instructions a measured processor executes for each count of processor 0.
    pub fn set_scale(&self, instructions: f64) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "some hundreds of instructions"
        )]
        let scale = (instructions * f64::from(1_u32 << FRACTION)) as u64;
        self.line(0).store(scale, Ordering::Relaxed);
    }

    /// The instructions that a measured processor could have executed until now.
    #[must_use]
    pub fn now(&self) -> u64 {
        let scale = u128::from(self.line(0).load(Ordering::Relaxed));
        let scaled = (u128::from(self.count(0)) * scale) >> FRACTION;
        u64::try_from(scaled).unwrap_or(u64::MAX)
    }
}
