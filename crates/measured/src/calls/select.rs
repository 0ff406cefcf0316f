//! Waiting for several descriptors at once.

use alloc::vec::Vec;
use core::mem;

use rustix::fd::{AsRawFd, OwnedFd};

use crate::call::{Call, CallSetup};
use crate::raw_syscalls::{Fault, syscall, word};

/// How many descriptors are looked at.
const PIPES: usize = 10;

/// `select`: select for reading from ten empty pipes, without waiting.
pub struct Select {
    /// The bits of the pipes' reading ends, as select takes them.
    wanted: [u64; 16],
    /// One more than the highest descriptor.
    limit: usize,
    _pipes: Vec<(OwnedFd, OwnedFd)>,
}

impl Call for Select {
    fn prepare(_: &CallSetup) -> Result<Self, Fault> {
        let pipes = (0..PIPES).map(|_| rustix::pipe::pipe()).collect::<Result<Vec<_>, _>>()?;
        let mut wanted = [0_u64; 16];
        let mut limit = 0;
        for (reader, _) in &pipes {
            let descriptor = word(reader.as_raw_fd());
            let word = wanted.get_mut(descriptor / 64);
            *word.ok_or(Fault::Wrong("too many descriptors are open"))? |= 1 << (descriptor % 64);
            limit = limit.max(descriptor + 1);
        }
        Ok(Self { wanted, limit, _pipes: pipes })
    }

    #[inline]
    fn operate(&mut self) -> Result<(), Fault> {
        // The kernel overwrites both.
        let mut readable = self.wanted;
        let mut timeout: libc::timeval = libc::timeval { tv_sec: 0, tv_usec: 0 };
        const { assert!(mem::size_of::<libc::fd_set>() == 16 * mem::size_of::<u64>()) }
        let set = readable.as_mut_ptr() as usize;
        let arguments = [self.limit, set, 0, 0, &raw mut timeout as usize];
        // SAFETY: reads and writes the set and the timeout alone.
        match unsafe { syscall(libc::SYS_select, arguments) }? {
            0 => Ok(()),
            _ => Err(Fault::Wrong("an empty pipe is readable")),
        }
    }
}
