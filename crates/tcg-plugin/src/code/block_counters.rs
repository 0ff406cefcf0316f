//! How much of a block was executed.
//!
//! QEMU tells when a block begins, not how far it came: a page fault, or a device that is read in the
//! midst of a block, ends it early. So instructions are counted at certain points: as one begins that
//! may fail, those before it are added, and as a block's last begins, all that are left. Of the kernel
//! the one that may fail is added, too, since it may read a device. What was counted so, and what comes
//! next, says how many instructions QEMU has counted.

use core::cell::Cell;
use core::ptr;

use crate::decode::{Block, End, Point};
use crate::symbols::Role;

/// What was counted since the last block that was heard of began: that one and those after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// How many instructions of the kernel were counted.
    pub kernel: u64,
    /// How many of programs.
    pub programs: u64,
    /// How many of their blocks were begun whose first instruction may fail.
    pub starts: u64,
    /// How many accesses to memory the last instruction of a program's block made.
    pub accesses: u64,
}

/// What is added to the number of programs' instructions for a block that was begun whose first
/// instruction may fail, which is not counted then.
pub const START: u64 = 1 << 40;

impl Progress {
    /// How many instructions were begun.
    pub fn begun(self) -> u64 {
        self.kernel + self.programs
    }
}

/// What ran unheard between two blocks that were heard of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Between {
    /// Nothing.
    Nothing,
    /// Code of the kernel.
    Kernel,
    /// Code of a program.
    Program,
}

impl Between {
    /// Whether anything ran, and if so whether in the kernel.
    pub fn of(ran: bool, in_kernel: bool) -> Self {
        match (ran, in_kernel) {
            (false, _) => Self::Nothing,
            (true, true) => Self::Kernel,
            (true, false) => Self::Program,
        }
    }
}

/// A number that the guest's code adds to, and what it was when it was last looked at.
///
/// It is only read. A processor that has begun with what comes after a write begins anew if that
/// reads the same place, which code that has just been translated does at places it can't learn.
struct Gauge {
    place: Cell<*const u64>,
    mark: Cell<u64>,
}

impl Gauge {
    const fn new() -> Self {
        Self { place: Cell::new(ptr::null()), mark: Cell::new(0) }
    }

    #[inline]
    fn now(&self) -> u64 {
        // SAFETY: a number of the plugin's, which nobody else touches meanwhile; a block was
        // translated before it began, so it is there.
        unsafe { *self.place.get() }
    }

    #[inline]
    fn since(&self) -> u64 {
        self.now() - self.mark.get()
    }

    #[inline]
    fn look(&self) {
        self.mark.set(self.now());
    }

    fn take(&self) -> u64 {
        let since = self.since();
        self.look();
        since
    }
}

/// Where the guest's code counts that.
pub struct Gauges {
    kernel: Gauge,
    programs: Gauge,
    accesses: Gauge,
}

impl Gauges {
    /// None yet.
    pub const fn new() -> Self {
        Self { kernel: Gauge::new(), programs: Gauge::new(), accesses: Gauge::new() }
    }

    /// They are there: of the kernel, of programs, and of accesses.
    pub fn point_to(&self, kernel: *mut u64, programs: *mut u64, accesses: *mut u64) {
        self.kernel.place.set(kernel);
        self.programs.place.set(programs);
        self.accesses.place.set(accesses);
    }

    /// Has a test count so much.
    #[cfg(test)]
    pub fn add(&self, kernel: u64, programs: u64) {
        // SAFETY: the test's own numbers.
        unsafe {
            *self.kernel.place.get().cast_mut() += kernel;
            *self.programs.place.get().cast_mut() += programs;
        }
    }

    /// How many instructions were begun since what was counted was last taken.
    #[inline]
    pub fn begun(&self) -> u64 {
        self.kernel.since() + self.programs.since() % START
    }

    /// Forgets what was counted; of accesses only if they matter.
    #[inline]
    pub fn clear(&self, accesses: bool) {
        self.kernel.look();
        self.programs.look();
        if accesses {
            self.accesses.look();
        }
    }

    /// What was counted since the last time.
    pub fn take(&self) -> Progress {
        let [kernel, programs, accesses] =
            [&self.kernel, &self.programs, &self.accesses].map(Gauge::take);
        Progress { kernel, programs: programs % START, starts: programs / START, accesses }
    }
}

/// How much of a block was executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Executed {
    /// So many instructions.
    pub count: u16,
    /// Whether that is all of it.
    pub is_whole: bool,
}

/// How much was executed of a block, by what was begun in it and the block that came next.
pub fn executed(block: &Block, progress: Progress, next: &Block) -> Executed {
    let part = |count| Executed { count, is_whole: false };
    let begun = progress.begun();
    if begun < u64::from(block.count) {
        let is_there = |point: &&Point| u64::from(point.counted) == begun;
        // It failed, which begins an exception; or it accesses a device: QEMU then carries it out in
        // a block of its own, of which nobody hears, and may be interrupted only after that.
        return part(block.points.iter().find(is_there).map_or(0, |point| {
            let is_carried_out = next.start == point.next || next.role == Role::Interrupt;
            point.before + u16::from(is_carried_out)
        }));
    }
    // What QEMU fetches next may fail, too: a program's last instruction is then carried out, and
    // has accessed what it accesses. The kernel's own code is always there.
    let fails = next.role == Role::Exception && block.end != End::InterruptReturn;
    if let Some(accesses) = block.last_may_fail.filter(|_| fails) {
        let is_carried_out =
            !block.is_kernel() && accesses > 0 && progress.accesses >= u64::from(accesses);
        if !is_carried_out {
            return part(block.count - 1);
        }
    }
    Executed { count: block.count, is_whole: true }
}

#[cfg(test)]
pub mod tests {
    use super::{Executed, Progress, executed};
    use crate::api::LONGEST;
    use crate::decode::{Block, Decoding};
    use crate::symbols::Symbols;
    use alloc::vec::Vec;

    pub const KERNEL: u64 = 0xffff_ffff_8100_0000;
    pub const SYMBOLS: &[u8] = b"reading 1007\n\
        kernel ffffffff81000000 asm_exc_page_fault\n\
        kernel ffffffff81000100 plain\n\
        kernel ffffffff81000200 asm_sysvec_apic_timer_interrupt\n\
        kernel ffffffff81000300 other\n";

    pub const NOP: &[u8] = &[0x90];
    pub const LOAD: &[u8] = &[0x8b, 0x07];
    pub const RETURN: &[u8] = &[0xc3];
    pub const READING: &[u8] = &[0x0f, 0x31];

    /// The block with that code, at that place.
    pub fn block(place: u64, code: &[&[u8]]) -> Block {
        let symbols = Symbols::read(SYMBOLS).expect("symbols");
        let mut decoding = Decoding::new();
        let mut at = place;
        let mut decoded = Vec::new();
        for bytes in code {
            let mut padded = [0; LONGEST];
            padded[..bytes.len()].copy_from_slice(bytes);
            decoded.extend(decoding.decode(at, &padded, bytes.len()));
            at += bytes.len() as u64;
        }
        Block::of(&decoded, &symbols).expect("a block")
    }

    fn counts(block: &Block, begun: u64, accesses: u64, next: &Block) -> (u16, bool) {
        let progress = Progress { kernel: 0, programs: begun, starts: 0, accesses };
        let Executed { count, is_whole } = executed(block, progress, next);
        (count, is_whole)
    }

    #[test]
    fn how_far_a_block_came_is_known_to_the_instruction() {
        let fault = &block(KERNEL, &[NOP]);
        let user = &block(0x2000, &[NOP, LOAD, NOP, NOP, RETURN]);
        let after = &block(0x2003, &[NOP]);
        assert_eq!(counts(user, 5, 1, fault), (5, true)); // what comes next could not be fetched
        assert_eq!(counts(user, 5, 0, fault), (4, false)); // the return failed
        assert_eq!(counts(user, 5, 0, after), (5, true));
        assert_eq!(counts(user, 1, 0, fault), (1, false)); // the load failed
        assert_eq!(counts(user, 1, 0, after), (2, false)); // QEMU carried it out by itself
        let timer = &block(KERNEL + 0x200, &[NOP]);
        assert_eq!(counts(user, 1, 0, timer), (2, false)); // and was interrupted
        let kernel = &block(KERNEL + 0x100, &[NOP, LOAD]);
        assert_eq!(counts(kernel, 2, 0, fault), (1, false));
        assert_eq!(counts(kernel, 2, 0, after), (2, true));
        let returns = &block(KERNEL + 0x100, &[&[0x48, 0xcf]]);
        assert_eq!(counts(returns, 1, 0, fault), (1, true));
        let divides = &block(0x2000, &[NOP, &[0xf7, 0xf1]]);
        assert_eq!(counts(divides, 2, 0, fault), (1, false));
    }
}
