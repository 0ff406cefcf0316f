//! Which blocks run unheard: those that only follow another block of the same function.
//!
//! To hear of a block costs more than to run it. A block is passed over if whatever comes after it
//! is of the same function, unless it fails or is interrupted, and if its own function's code leads to
//! it, and nothing else as far as known. What it executes is counted all the same (see
//! [`crate::progress`]), and assigned when the next block is heard of.

use alloc::collections::{BTreeMap, BTreeSet};

use crate::decode::{Block, End};
use crate::symbols::Symbols;

/// What is known of blocks that run unheard.
#[derive(Default)]
pub struct Unheard {
    /// Where they begin.
    pub starts: BTreeSet<u64>,
    /// Where they lead to in other functions, and where one that does so begins: what ran unheard
    /// before a block that begins there is of that function.
    pub exits: BTreeMap<u64, u64>,
}

/// Where the code that was seen so far leads.
#[derive(Default)]
pub struct Landings {
    /// From the same function; also where a call in it returns to, but for programs with functions.
    followed: BTreeSet<u64>,
    /// From calls of a function that say which.
    called: BTreeSet<u64>,
    /// From elsewhere.
    landed: BTreeSet<u64>,
}

impl Landings {
    /// Whether a block may run unheard. Notes where it leads.
    pub fn pass_over(&mut self, block: &Block, symbols: &Symbols, unheard: &mut Unheard) -> bool {
        let is_followed = self.followed.contains(&block.start) && !symbols.is_border(block.start);
        let is_led_to = (is_followed || self.called.contains(&block.start))
            && !self.landed.contains(&block.start);
        let exit = self.note(block, symbols);
        // A program's last instruction is counted as it begins, and must not fail then.
        let ends_well =
            block.end == End::On && (block.is_kernel() || block.last_may_fail.is_none());
        is_led_to && ends_well && block.is_plain() && self.leads_on(block, exit, symbols, unheard)
    }

    /// Whether it is known of what comes after a block which function's code ran before it: the
    /// block's own, also where it leads to another one's, at `exit`.
    fn leads_on(
        &self,
        block: &Block,
        exit: Option<u64>,
        symbols: &Symbols,
        unheard: &mut Unheard,
    ) -> bool {
        let places = [block.next, block.target];
        if places.iter().any(|place| Some(*place) != exit && unheard.exits.contains_key(place)) {
            return false;
        }
        let Some(exit) = exit else { return true };
        // What jumps there in any case is heard of: it would save nothing.
        let leads_only_there = block.jumps || !symbols.is_of_one(block.start, block.next);
        if leads_only_there || unheard.starts.contains(&exit) || self.followed.contains(&exit) {
            return false;
        }
        let from = *unheard.exits.entry(exit).or_insert(block.start);
        symbols.is_of_one(block.start, from)
    }

    /// Notes where a block leads; where it jumps to another function.
    fn note(&mut self, block: &Block, symbols: &Symbols) -> Option<u64> {
        let is_anonymous = symbols.is_anonymous(block.start);
        let mut exit = None;
        let places = [block.next, block.target];
        for place in places.into_iter().filter(|&place| place != 0) {
            let is_own = symbols.is_of_one(block.start, place);
            let led_to = match block.end {
                End::On if is_own => &mut self.followed,
                End::Call if place == block.target => &mut self.called,
                End::Call if is_own && (block.is_kernel() || is_anonymous) => &mut self.followed,
                _ => &mut self.landed,
            };
            led_to.insert(place);
            if !is_own {
                exit = Some(place);
            }
        }
        exit
    }
}

#[cfg(test)]
mod tests {
    use super::{Landings, Unheard};
    use crate::progress::tests::{KERNEL, LOAD, NOP, RETURN, SYMBOLS, block};
    use crate::symbols::Symbols;

    const BACK: &[u8] = &[0x75, 0xfd]; // jne, to the byte before it
    const FAR: &[u8] = &[0x0f, 0x84, 0xfb, 0x0f, 0, 0]; // je, a page and a byte further
    const CALL: &[u8] = &[0xe8, 0xf1, 0, 0, 0]; // 0xf6 from where it begins
    const OTHER: &[u8] = &[0x0f, 0x84, 0xfa, 1, 0, 0]; // je, 0x200 from where it begins
    const REPEATED: &[u8] = &[0xf3, 0x48, 0xab]; // rep stos

    /// What is asked whether it may run unheard.
    fn passing(symbols: Symbols) -> impl FnMut(u64, &[&[u8]]) -> bool {
        let (mut landings, mut unheard) = (Landings::default(), Unheard::default());
        move |place, code| {
            let passes = landings.pass_over(&block(place, code), &symbols, &mut unheard);
            if passes {
                unheard.starts.insert(place);
            }
            passes
        }
    }

    #[test]
    fn only_what_follows_in_its_own_function_is_passed_over() {
        let mut pass = passing(Symbols::read(SYMBOLS).expect("symbols"));
        assert!(!pass(0x2000, &[NOP, BACK])); // nobody knows what led there
        assert!(pass(0x2003, &[NOP, BACK])); // what comes behind that
        assert!(!pass(0x2003, &[NOP, LOAD])); // may fail, having been counted
        assert!(pass(0x2003, &[LOAD, NOP])); // not counted if it fails
        assert!(pass(0x2003, &[FAR]));
        assert!(!pass(0x2003, &[RETURN]));
        assert!(!pass(KERNEL + 0x108, &[NOP, LOAD]));
        assert!(pass(KERNEL + 0x10b, &[NOP, LOAD])); // the kernel's own code is always there
        assert!(!pass(KERNEL + 0x10e, &[CALL]));
        assert!(pass(KERNEL + 0x113, &[NOP])); // what is called returns there
        assert!(pass(KERNEL + 0x204, &[NOP])); // is called
        assert!(!pass(KERNEL + 0x200, &[NOP])); // begins an interrupt
        assert!(!pass(KERNEL + 0x300, &[NOP])); // begins a function that nothing leads to so far
        assert!(!pass(KERNEL + 0x110, &[NOP, REPEATED]));
        assert!(pass(KERNEL + 0x111, &[REPEATED])); // again
        assert!(!pass(0x2010, &[CALL]));
        assert!(pass(0x2106, &[NOP]));
        assert!(pass(0x2015, &[NOP])); // what is called returns there
        assert!(!pass(0x2016, &[CALL])); // it may fail, having been counted
    }

    #[test]
    fn what_may_jump_to_another_function_is_passed_over_if_only_that_leads_there() {
        let mut pass = passing(Symbols::read(SYMBOLS).expect("symbols"));
        assert!(!pass(KERNEL + 0x110, &[NOP]));
        assert!(pass(KERNEL + 0x111, &[OTHER])); // to 0x311, of `other`
        assert!(!pass(KERNEL + 0x311, &[NOP])); // is heard of
        assert!(!pass(KERNEL + 0x310, &[NOP])); // its own function leads there, too
        assert!(!pass(KERNEL + 0x210, &[NOP]));
        assert!(!pass(KERNEL + 0x211, &[&[0x0f, 0x84, 0xfa, 0, 0, 0]])); // two lead to 0x311
        assert!(!pass(KERNEL + 0x112, &[&[0xe9, 0xfb, 1, 0, 0]])); // jumps there in any case
        assert!(!pass(KERNEL + 0x320, &[NOP]));
        assert!(pass(KERNEL + 0x321, &[NOP]));
        assert!(!pass(KERNEL + 0x120, &[NOP]));
        assert!(!pass(KERNEL + 0x121, &[OTHER])); // to 0x321, which runs unheard
    }

    #[test]
    fn calls_of_a_program_are_heard_of_where_it_has_functions() {
        let symbols = [SYMBOLS, b"program a\nfunction 2000 1000 f\n"].concat();
        let mut pass = passing(Symbols::read(&symbols).expect("symbols"));
        assert!(!pass(0x2010, &[CALL]));
        assert!(pass(0x2106, &[NOP]));
        assert!(!pass(0x2106, &[CALL]));
        assert!(!pass(0x2015, &[NOP])); // which of its callers it returns to has to be seen
    }
}
