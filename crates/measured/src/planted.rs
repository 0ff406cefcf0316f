//! A known cost after each operation: for a bench of the instrument, in no program that is shipped.

use core::arch::asm;

use crate::call::{Call, Setup};
use crate::sys::Fault;

/// Multiplications at most, each of which waits for the one before.
const MOST: usize = 256;
/// Bytes of one in the code.
const LENGTH: usize = 4;

/// A call, and so many multiplications after it.
pub struct Planted<C> {
    call: C,
    offset: usize,
}

impl<C: Call> Planted<C> {
    /// The call with so many multiplications.
    pub fn new(call: C, count: u32) -> Self {
        Self { call, offset: LENGTH * usize::try_from(count).map_or(MOST, |count| count.min(MOST)) }
    }
}

impl<C: Call> Call for Planted<C> {
    fn prepare(setup: &Setup) -> Result<Self, Fault> {
        Ok(Self::new(C::prepare(setup)?, 0))
    }

    fn before(&mut self) -> Result<(), Fault> {
        self.call.before()
    }

    #[inline]
    fn operate(&mut self) -> Result<(), Fault> {
        self.call.operate()?;
        // Between two fences it overlaps with nothing. Jumping into the row has no branch whose
        // prediction would depend on how many there are, and the row and its end share a page.
        // SAFETY: changes two registers that nobody else has.
        unsafe {
            asm!(
                "lfence",
                "lea {target}, [rip + 3f]",
                "sub {target}, {offset}",
                "jmp {target}",
                ".p2align 11",
                ".rept 256",
                "imul {number}, {number}",
                ".endr",
                "3:",
                "lfence",
                target = out(reg) _,
                offset = in(reg) self.offset,
                number = inout(reg) 3_u64 => _,
                options(nostack),
            );
        }
        Ok(())
    }

    fn after(&mut self) -> Result<(), Fault> {
        self.call.after()
    }
}
