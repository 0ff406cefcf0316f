//! The timed windows: nothing but the operations happens between two readings of the clock.

use core::ptr::{NonNull, null_mut};
use core::slice;

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

use crate::call::Call;
use crate::clock::Clock;
use crate::raw_syscalls::Fault;

/// Runs one window of `batch` operations and returns its length in the clock's unit.
///
/// The call's `before` and `after` are outside of it; the wait for the window comes after `before`.
// Not inlined, so that warm-up and measurement execute the very same instructions.
#[inline(never)]
pub fn window<K: Clock, C: Call>(call: &mut C, batch: u32) -> Result<u64, Fault> {
    let start = K::now();
    for _ in 0..batch {
        call.operate()?;
    }
    let end = K::now();
    call.after()?;
    Ok(end.wrapping_sub(start))
}

/// Memory for samples, allocated before the first window.
///
/// It is shared memory: a fork copies no page of it, so the number of samples does not change what
/// `fork` costs.
pub struct Samples {
    start: NonNull<u64>,
    count: usize,
}

impl Samples {
    /// Memory for `count` samples, with all pages present.
    pub fn new(count: usize) -> Result<Self, Fault> {
        // SAFETY: a new mapping, at an address that the kernel chooses.
        let start = unsafe {
            let flags = MapFlags::SHARED | MapFlags::POPULATE;
            let protection = ProtFlags::READ | ProtFlags::WRITE;
            mmap_anonymous(null_mut(), count * size_of::<u64>(), protection, flags)
        }?;
        let start = NonNull::new(start.cast()).ok_or(Fault::Wrong("memory mapped at address 0"))?;
        Ok(Self { start, count })
    }

    /// The samples, 0 where none has been stored yet.
    pub fn slots(&mut self) -> &mut [u64] {
        // SAFETY: the mapping is that long, zeroed, and used by nothing else.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.count) }
    }
}

impl Drop for Samples {
    fn drop(&mut self) {
        // SAFETY: nothing borrows the mapping any more. Failing to unmap does no harm.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.count * size_of::<u64>()) };
    }
}

#[cfg(test)]
mod tests {
    use super::Samples;

    #[test]
    fn samples_are_zero_until_stored() {
        let mut samples = Samples::new(1000).expect("a mapping");
        assert!(samples.slots().iter().all(|&slot| slot == 0));
        samples.slots()[999] = 7;
        assert_eq!(samples.slots()[999], 7);
    }
}
