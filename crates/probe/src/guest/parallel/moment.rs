//! Going on at a given moment of the time-stamp counter.
//!
//! Under QEMU's instruction counter each instruction is one tick, so a moment can be met to the
//! instruction.

use std::arch::asm;

/// Instructions from the first reading to the next, and from there to each that follows.
const FIRST_ROUND: u64 = 4;
const ROUND: u64 = 10;
/// The last so many ticks are spent in a row of `nop`, entered where as many are left.
const ROW: u64 = 64;

/// Waits until the time-stamp counter is `moment`. Returns the ticks that this process did not use
/// up itself meanwhile: those of other processors, and of interrupts. `None` if it was too late.
pub fn go_on_at(moment: u64) -> Option<u64> {
    let (first, last, rounds): (u64, u64, u64);
    // SAFETY: touches no memory. The jump goes to one of the `nop`, or right behind the last.
    unsafe {
        asm!(
            "xor {rounds:e}, {rounds:e}",
            "rdtsc",
            "shl rdx, 32",
            "or rax, rdx",
            "mov {first}, rax",
            "2:",
            "rdtsc",
            "shl rdx, 32",
            "or rdx, rax",
            "mov {last}, rdx",
            "inc {rounds}",
            "mov rax, {moment}",
            "sub rax, rdx",
            "jle 4f",
            "cmp rax, {row}",
            "ja 2b",
            "lea rdx, [rip + 4f]",
            "sub rdx, rax",
            "jmp rdx",
            ".rept {row}", "nop", ".endr",
            "4:",
            rounds = out(reg) rounds,
            first = out(reg) first,
            last = out(reg) last,
            moment = in(reg) moment,
            row = const ROW,
            out("rax") _,
            out("rdx") _,
            options(nomem, nostack),
        );
    }
    let own = FIRST_ROUND + (rounds - 1) * ROUND;
    (last <= moment).then_some((last - first).wrapping_sub(own))
}

#[cfg(test)]
mod tests {
    use hardcost_measured::clock::{Clock, Tsc};

    use super::go_on_at;

    #[test]
    fn it_goes_on_no_sooner_and_at_once_if_it_is_too_late() {
        let punctual = |_| {
            let moment = Tsc::now() + 10_000_000;
            let late = go_on_at(moment);
            assert!(Tsc::now() >= moment);
            assert_eq!(go_on_at(moment), None);
            late.is_some()
        };
        assert!((0..1000).any(punctual)); // unless others have the processor each time
    }
}
