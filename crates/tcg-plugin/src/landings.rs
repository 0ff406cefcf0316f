//! Which blocks run unheard: those that only follow another block of the same function.
//!
//! To hear of a block costs more than to run it. A block is passed over if whatever comes after it
//! is of the same function, unless it fails or is interrupted, and if its own function's code leads to
//! it, and nothing else as far as known. What it executes is counted all the same (see
//! [`crate::progress`]), and assigned when the next block is heard of.

use alloc::collections::BTreeSet;

use crate::api::LONGEST;
use crate::decode::{Block, End};
use crate::symbols::Symbols;

/// How large a page of memory is, at least.
const PAGE: u64 = 4096;

/// Where the code that was seen so far leads.
#[derive(Default)]
pub struct Landings {
    /// From the same function; in the kernel also where a call in it returns to.
    followed: BTreeSet<u64>,
    /// From calls of a function that say which.
    called: BTreeSet<u64>,
    /// From elsewhere.
    landed: BTreeSet<u64>,
}

impl Landings {
    /// Whether a block may run unheard. Notes where it leads.
    pub fn pass_over(&mut self, block: &Block, symbols: &Symbols) -> bool {
        let is_followed = self.followed.contains(&block.start) && !symbols.is_border(block.start);
        let is_led_to = (is_followed || self.called.contains(&block.start))
            && !self.landed.contains(&block.start);
        let is_local = self.note(block, symbols);
        // What comes behind a program's last instruction is there, so that only it may fail.
        let ends_well = match block.end {
            End::On => block.is_kernel() || block.last_may_fail.is_none(),
            End::Call => symbols.is_anonymous(block.start),
            _ => false,
        };
        is_led_to && is_local && ends_well && block.is_plain()
    }

    /// Notes where a block leads; whether that is its own function, and in a program its own page,
    /// not so near the page's end that an instruction there may reach into the next one.
    fn note(&mut self, block: &Block, symbols: &Symbols) -> bool {
        let is_anonymous = symbols.is_anonymous(block.start);
        let mut is_local = block.end == End::On || block.target != 0;
        let places = [block.next, block.target];
        for place in places.into_iter().filter(|&place| place != 0) {
            let is_own = symbols.is_of_one(block.start, place)
                && (block.is_kernel() || is_there(block, place));
            let returns_there = block.end == End::Call && place == block.next;
            let led_to = match block.end {
                End::On if is_own => &mut self.followed,
                End::Call if place == block.target => &mut self.called,
                End::Call if is_own && (block.is_kernel() || is_anonymous) => &mut self.followed,
                _ => &mut self.landed,
            };
            led_to.insert(place);
            is_local &= is_own || (is_anonymous && returns_there);
            is_local &= block.end == End::On || is_anonymous;
        }
        is_local
    }
}

/// Whether a program's instruction there is in memory because the block's own code is.
fn is_there(block: &Block, place: u64) -> bool {
    block.start / PAGE == (place + LONGEST as u64 - 1) / PAGE
}

#[cfg(test)]
mod tests {
    use super::Landings;
    use crate::progress::tests::{KERNEL, LOAD, NOP, RETURN, SYMBOLS, block};
    use crate::symbols::Symbols;

    const BACK: &[u8] = &[0x75, 0xfd]; // jne, to the byte before it
    const FAR: &[u8] = &[0x0f, 0x84, 0xfb, 0x0f, 0, 0]; // je, a page and a byte further
    const CALL: &[u8] = &[0xe8, 0xf1, 0, 0, 0]; // 0xf6 from where it begins

    #[test]
    fn only_what_follows_in_its_own_function_is_passed_over() {
        let symbols = Symbols::read(SYMBOLS).expect("symbols");
        let mut landings = Landings::default();
        let mut pass = |place, code| landings.pass_over(&block(place, code), &symbols);
        assert!(!pass(0x2000, &[NOP, BACK])); // nobody knows what led there
        assert!(pass(0x2003, &[NOP, BACK])); // what comes behind that
        assert!(!pass(0x2003, &[NOP, LOAD])); // may fail, or what comes behind it
        assert!(!pass(0x2003, &[FAR])); // leads to another page
        assert!(!pass(0x2003, &[RETURN]));
        assert!(!pass(0x2ff0, &[NOP, BACK]));
        assert!(!pass(0x2ff3, &[NOP, BACK])); // what comes behind it may end in another page
        assert!(!pass(KERNEL + 0x108, &[NOP, LOAD]));
        assert!(pass(KERNEL + 0x10b, &[NOP, LOAD])); // the kernel's own code is always there
        assert!(!pass(KERNEL + 0x10e, &[CALL]));
        assert!(pass(KERNEL + 0x113, &[NOP])); // what is called returns there
        assert!(pass(KERNEL + 0x204, &[NOP])); // is called
        assert!(!pass(KERNEL + 0x200, &[NOP])); // begins an interrupt
        assert!(!pass(KERNEL + 0x300, &[NOP])); // begins a function that nothing leads to so far
        assert!(!pass(0x2010, &[CALL]));
        assert!(pass(0x2106, &[NOP]));
        assert!(pass(0x2015, &[NOP])); // what is called returns there
        assert!(pass(0x2016, &[CALL])); // programs have no functions, so it is one frame
    }

    #[test]
    fn calls_of_a_program_are_heard_of_where_it_has_functions() {
        let symbols = [SYMBOLS, b"program a\nfunction 2000 1000 f\n"].concat();
        let symbols = Symbols::read(&symbols).expect("symbols");
        let mut landings = Landings::default();
        let mut pass = |place, code| landings.pass_over(&block(place, code), &symbols);
        assert!(!pass(0x2010, &[CALL]));
        assert!(pass(0x2106, &[NOP]));
        assert!(!pass(0x2106, &[CALL]));
        assert!(!pass(0x2015, &[NOP])); // to where a program returns may be in memory no more
    }
}
