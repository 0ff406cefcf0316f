//! A known cost after each operation, for a benchmark of the instrument. No shipped program has it.

use core::arch::asm;

use crate::call::{Call, CallSetup};
use crate::raw_syscalls::Fault;

/// Iterations of the loop without a cost: enough that its end is mispredicted, with a cost or
/// without.
const WITHOUT: u64 = 64;

/// A call, and a loop of so many multiplications after it.
pub struct PlantedCost<C> {
    call: C,
    turns: u64,
}

impl<C: Call> PlantedCost<C> {
    /// The call with so many further multiplications.
    pub fn new(call: C, count: u32) -> Self {
        Self { call, turns: WITHOUT + u64::from(count) }
    }
}

impl<C: Call> Call for PlantedCost<C> {
    fn prepare(setup: &CallSetup) -> Result<Self, Fault> {
        Ok(Self::new(C::prepare(setup)?, 0))
    }

    fn before(&mut self) -> Result<(), Fault> {
        self.call.before()
    }

    #[inline]
    fn operate(&mut self) -> Result<(), Fault> {
        self.call.operate()?;
        // Between two fences the loop overlaps with nothing, and each iteration waits for the one
        // before. The same code runs with a cost and without.
        //
        // SAFETY: changes two registers that the compiler keeps for nothing else.
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
