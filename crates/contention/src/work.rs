//! Work of so many instructions.

use std::arch::asm;

/// Executes so many instructions, rounded down to an even number.
pub fn work(instructions: u64) {
    let rounds = instructions / 2;
    if rounds == 0 {
        return;
    }
    // SAFETY: touches nothing but its register.
    unsafe {
        asm!("2:", "dec {rounds}", "jnz 2b", rounds = inout(reg) rounds => _, options(nomem, nostack));
    }
}
