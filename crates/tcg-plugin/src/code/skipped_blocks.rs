//! Skipped blocks: those without a callback, since they only follow another block of the same
//! function.
//!
//! A callback costs more than the block itself. A block is skipped if the next one is of the same
//! function, unless it fails or is interrupted, and if only its own function's code leads to it, as
//! far as known. Its instructions are counted all the same (see [`crate::code::block_counters`]),
//! and assigned at the next callback.

use alloc::collections::{BTreeMap, BTreeSet};

use crate::code::block::Block;
use crate::code::decoder::End;
use crate::symbols::Symbols;

/// What is known of skipped blocks.
#[derive(Default)]
pub struct SkippedBlocks {
    /// Where they begin.
    pub starts: BTreeSet<u64>,
    /// Where they lead to in other functions, each with the begin of the block that does. Skipped
    /// code before a block that begins there is of that block's function.
    pub exits: BTreeMap<u64, u64>,
}

/// Where the code that was translated so far leads.
#[derive(Default)]
pub struct JumpTargets {
    /// From the same function. Includes where its calls return to, except in programs with
    /// functions.
    same_function: BTreeSet<u64>,
    /// From direct calls.
    call_targets: BTreeSet<u64>,
    /// From anywhere else.
    elsewhere: BTreeSet<u64>,
}

impl JumpTargets {
    /// Whether a block may be skipped. Adds its targets.
    pub fn may_skip(
        &mut self,
        block: &Block,
        symbols: &Symbols,
        skipped: &mut SkippedBlocks,
    ) -> bool {
        let is_in_function =
            self.same_function.contains(&block.start) && !symbols.is_border(block.start);
        let is_led_to = (is_in_function || self.call_targets.contains(&block.start))
            && !self.elsewhere.contains(&block.start);
        let exit = self.add_targets(block, symbols);
        // A program's last instruction is counted as it begins, so it must not fail.
        let ends_well =
            block.end == End::On && (block.is_kernel() || block.last_may_fail.is_none());
        is_led_to
            && ends_well
            && block.is_plain()
            && self.is_unambiguous(block, exit, symbols, skipped)
    }

    /// Whether the next block shows which function's code ran before it: this block's own, even if
    /// it leads to another function, at `exit`.
    fn is_unambiguous(
        &self,
        block: &Block,
        exit: Option<u64>,
        symbols: &Symbols,
        skipped: &mut SkippedBlocks,
    ) -> bool {
        let addresses = [block.next, block.target];
        if addresses
            .iter()
            .any(|address| Some(*address) != exit && skipped.exits.contains_key(address))
        {
            return false;
        }
        let Some(exit) = exit else { return true };
        // The target of an unconditional jump has a callback, so skipping this block would save
        // nothing.
        let leads_only_there = block.jumps || !symbols.is_of_one(block.start, block.next);
        if leads_only_there || skipped.starts.contains(&exit) || self.same_function.contains(&exit)
        {
            return false;
        }
        let from = *skipped.exits.entry(exit).or_insert(block.start);
        symbols.is_of_one(block.start, from)
    }

    /// Adds a block's targets. Returns the one in another function.
    fn add_targets(&mut self, block: &Block, symbols: &Symbols) -> Option<u64> {
        let is_anonymous = symbols.is_anonymous(block.start);
        let mut exit = None;
        let addresses = [block.next, block.target];
        for address in addresses.into_iter().filter(|&address| address != 0) {
            let is_own = symbols.is_of_one(block.start, address);
            let led_to = match block.end {
                End::On if is_own => &mut self.same_function,
                End::Call if address == block.target => &mut self.call_targets,
                End::Call if is_own && (block.is_kernel() || is_anonymous) => {
                    &mut self.same_function
                }
                _ => &mut self.elsewhere,
            };
            led_to.insert(address);
            if !is_own {
                exit = Some(address);
            }
        }
        exit
    }
}

#[cfg(test)]
mod tests {
    use super::{JumpTargets, SkippedBlocks};
    use crate::code::block_counters::tests::{KERNEL, LOAD, NOP, RETURN, SYMBOLS, block};
    use crate::symbols::Symbols;

    const BACK: &[u8] = &[0x75, 0xfd]; // jne, to the byte before it
    const FAR: &[u8] = &[0x0f, 0x84, 0xfb, 0x0f, 0, 0]; // je, a page and a byte further
    const CALL: &[u8] = &[0xe8, 0xf1, 0, 0, 0]; // 0xf6 from its begin
    const OTHER: &[u8] = &[0x0f, 0x84, 0xfa, 1, 0, 0]; // je, 0x200 from its begin
    const REPEATED: &[u8] = &[0xf3, 0x48, 0xab]; // rep stos

    /// A function that says whether a block may be skipped.
    fn passing(symbols: Symbols) -> impl FnMut(u64, &[&[u8]]) -> bool {
        let (mut jump_targets, mut skipped) = (JumpTargets::default(), SkippedBlocks::default());
        move |address, code| {
            let passes = jump_targets.may_skip(&block(address, code), &symbols, &mut skipped);
            if passes {
                skipped.starts.insert(address);
            }
            passes
        }
    }

    #[test]
    fn only_what_follows_in_its_own_function_is_passed_over() {
        let mut pass = passing(Symbols::read(SYMBOLS).expect("symbols"));
        assert!(!pass(0x2000, &[NOP, BACK])); // what leads there is not known
        assert!(pass(0x2003, &[NOP, BACK])); // behind that
        assert!(!pass(0x2003, &[NOP, LOAD])); // may fail after it was counted
        assert!(pass(0x2003, &[LOAD, NOP])); // not counted if it fails
        assert!(pass(0x2003, &[FAR]));
        assert!(!pass(0x2003, &[RETURN]));
        assert!(!pass(KERNEL + 0x108, &[NOP, LOAD]));
        assert!(pass(KERNEL + 0x10b, &[NOP, LOAD])); // the kernel's own code is always mapped
        assert!(!pass(KERNEL + 0x10e, &[CALL]));
        assert!(pass(KERNEL + 0x113, &[NOP])); // the call returns there
        assert!(pass(KERNEL + 0x204, &[NOP])); // is called
        assert!(!pass(KERNEL + 0x200, &[NOP])); // begins an interrupt
        assert!(!pass(KERNEL + 0x300, &[NOP])); // begins a function that nothing leads to so far
        assert!(!pass(KERNEL + 0x110, &[NOP, REPEATED]));
        assert!(pass(KERNEL + 0x111, &[REPEATED])); // again
        assert!(!pass(0x2010, &[CALL]));
        assert!(pass(0x2106, &[NOP]));
        assert!(pass(0x2015, &[NOP])); // the call returns there
        assert!(!pass(0x2016, &[CALL])); // it may fail after it was counted
    }

    #[test]
    fn what_may_jump_to_another_function_is_passed_over_if_only_that_leads_there() {
        let mut pass = passing(Symbols::read(SYMBOLS).expect("symbols"));
        assert!(!pass(KERNEL + 0x110, &[NOP]));
        assert!(pass(KERNEL + 0x111, &[OTHER])); // to 0x311, of `other`
        assert!(!pass(KERNEL + 0x311, &[NOP])); // has a callback
        assert!(!pass(KERNEL + 0x310, &[NOP])); // its own function leads there, too
        assert!(!pass(KERNEL + 0x210, &[NOP]));
        assert!(!pass(KERNEL + 0x211, &[&[0x0f, 0x84, 0xfa, 0, 0, 0]])); // two lead to 0x311
        assert!(!pass(KERNEL + 0x112, &[&[0xe9, 0xfb, 1, 0, 0]])); // jumps there unconditionally
        assert!(!pass(KERNEL + 0x320, &[NOP]));
        assert!(pass(KERNEL + 0x321, &[NOP]));
        assert!(!pass(KERNEL + 0x120, &[NOP]));
        assert!(!pass(KERNEL + 0x121, &[OTHER])); // to 0x321, which is skipped
    }

    #[test]
    fn calls_of_a_program_have_callbacks_where_it_has_functions() {
        let symbols = [SYMBOLS, b"program a\nfunction 2000 1000 f\n"].concat();
        let mut pass = passing(Symbols::read(&symbols).expect("symbols"));
        assert!(!pass(0x2010, &[CALL]));
        assert!(pass(0x2106, &[NOP]));
        assert!(!pass(0x2106, &[CALL]));
        assert!(!pass(0x2015, &[NOP])); // the stack must show which caller it returns to
    }
}
