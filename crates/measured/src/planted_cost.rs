//! A known cost after each operation: for a bench of the instrument, in no program that is shipped.

use core::arch::asm;

use crate::call::{Call, Setup};
use crate::sys::Fault;

/// Turns of the loop without a cost: so many that where it ends is not foreseen, with one or without.
const WITHOUT: u64 = 64;

/// A call, and a loop of so many multiplications after it.
pub struct Planted<C> {
    call: C,
    turns: u64,
}

impl<C: Call> Planted<C> {
    /// The call with so many multiplications more than without a cost.
    pub fn new(call: C, count: u32) -> Self {
        Self { call, turns: WITHOUT + u64::from(count) }
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
        // Between two fences it overlaps with nothing, and each turn waits for the one before. The
        // same code runs with a cost and without.
        // SAFETY: changes two registers that nobody else has.
        unsafe {
            asm!(
                "lfence",
                "2:",
                "imul {number}, {number}",
                "dec {turns}",
                "jnz 2b",
                "lfence",
                turns = inout(reg) self.turns => _,
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
