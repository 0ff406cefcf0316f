//! The block counters: how many instructions of a block were executed.
//!
//! QEMU reports when a block begins, not how far it came: a page fault, or a device that is read in
//! the middle of a block, ends it early. So the guest's code adds to counters at certain
//! instructions. One that may fail adds those before it as it begins, and a block's last one adds
//! all that are left. In the kernel the one that may fail adds itself, too, since it may read a
//! device. The counters and the next block together show how many instructions QEMU has counted.

use core::cell::Cell;
use core::ptr;

use crate::code::block::{Block, Point};
use crate::code::decoder::End;
use crate::symbols::Role;

/// What was counted since the last callback: in its block and in skipped ones after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CounterDeltas {
    /// How many instructions of the kernel were counted.
    pub kernel: u64,
    /// How many of programs.
    pub programs: u64,
    /// How many of their blocks began whose first instruction may fail.
    pub starts: u64,
    /// How many accesses to memory the last instruction of a program's block made.
    pub accesses: u64,
}

/// The amount by which a block that begins with an instruction that may fail raises the counter of
/// programs: that instruction itself is not counted then.
pub const BLOCK_START: u64 = 1 << 40;

impl CounterDeltas {
    /// How many instructions began.
    pub fn begun(self) -> u64 {
        self.kernel + self.programs
    }
}

/// What ran in skipped blocks between two callbacks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SkippedBetween {
    /// Nothing.
    Nothing,
    /// Code of the kernel.
    Kernel,
    /// Code of a program.
    Program,
}

impl SkippedBetween {
    /// Whether anything ran, and if so whether in the kernel.
    pub fn of(ran: bool, in_kernel: bool) -> Self {
        match (ran, in_kernel) {
            (false, _) => Self::Nothing,
            (true, true) => Self::Kernel,
            (true, false) => Self::Program,
        }
    }
}

/// A counter, and its value at the last look.
///
/// It is only read, never reset. Code that has just been translated reads it at addresses that the
/// processor's predictor can't have learnt, and a read soon after a write to the same address would
/// make the processor start over.
struct CounterReader {
    pointer: Cell<*const u64>,
    last: Cell<u64>,
}

impl CounterReader {
    const fn new() -> Self {
        Self { pointer: Cell::new(ptr::null()), last: Cell::new(0) }
    }

    #[inline]
    fn now(&self) -> u64 {
        // SAFETY: a number of the plugin's, which no other thread writes meanwhile. A block was
        // translated before it began, so the number exists.
        unsafe { *self.pointer.get() }
    }

    #[inline]
    fn since(&self) -> u64 {
        self.now() - self.last.get()
    }

    #[inline]
    fn mark_read(&self) {
        self.last.set(self.now());
    }
}

/// The counters of the kernel, of programs and of accesses.
pub struct BlockCounters {
    kernel: CounterReader,
    programs: CounterReader,
    accesses: CounterReader,
}

impl BlockCounters {
    /// None yet.
    pub const fn new() -> Self {
        Self {
            kernel: CounterReader::new(),
            programs: CounterReader::new(),
            accesses: CounterReader::new(),
        }
    }

    /// Sets the addresses of the counters.
    pub fn point_to(&self, kernel: *mut u64, programs: *mut u64, accesses: *mut u64) {
        self.kernel.pointer.set(kernel);
        self.programs.pointer.set(programs);
        self.accesses.pointer.set(accesses);
    }

    /// Lets a test count.
    #[cfg(test)]
    pub fn add(&self, kernel: u64, programs: u64) {
        // SAFETY: the test's own numbers.
        unsafe {
            *self.kernel.pointer.get().cast_mut() += kernel;
            *self.programs.pointer.get().cast_mut() += programs;
        }
    }

    /// How many instructions began since the last look.
    #[inline]
    pub fn begun(&self) -> u64 {
        self.kernel.since() + self.programs.since() % BLOCK_START
    }

    /// Makes this the last look; for accesses only if they matter.
    #[inline]
    pub fn clear(&self, accesses: bool) {
        self.kernel.mark_read();
        self.programs.mark_read();
        if accesses {
            self.accesses.mark_read();
        }
    }

    /// What was counted since the last look, which is now.
    pub fn take(&self) -> CounterDeltas {
        let deltas = self.deltas();
        self.clear(true);
        deltas
    }

    /// The last look was when so much was not yet counted.
    pub fn resume(&self, deltas: CounterDeltas) {
        let programs = deltas.programs + deltas.starts * BLOCK_START;
        for (one, since) in [
            (&self.kernel, deltas.kernel),
            (&self.programs, programs),
            (&self.accesses, deltas.accesses),
        ] {
            one.last.set(one.now() - since);
        }
    }

    /// What was counted since the last look.
    pub fn deltas(&self) -> CounterDeltas {
        let [kernel, programs, accesses] =
            [&self.kernel, &self.programs, &self.accesses].map(CounterReader::since);
        CounterDeltas {
            kernel,
            programs: programs % BLOCK_START,
            starts: programs / BLOCK_START,
            accesses,
        }
    }
}

/// How much of a block was executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Executed {
    /// How many instructions.
    pub count: u16,
    /// Whether that is all of it.
    pub is_whole: bool,
}

/// How much of a block was executed, by the counters and the next block.
pub fn executed(block: &Block, deltas: CounterDeltas, next: &Block) -> Executed {
    let part = |count| Executed { count, is_whole: false };
    let begun = deltas.begun();
    if begun < u64::from(block.count) {
        let is_there = |point: &&Point| u64::from(point.counted) == begun;
        // The instruction failed, which begins an exception; or it accesses a device. QEMU then
        // executes it in a block of its own, without a callback, and takes an interrupt only after
        // that.
        return part(block.points.iter().find(is_there).map_or(0, |point| {
            let is_carried_out = next.start == point.next || next.role == Role::Interrupt;
            point.before + u16::from(is_carried_out)
        }));
    }
    // The fetch of the next block may fail, too. A program's last instruction is complete then,
    // with its accesses made. The kernel's own code is always mapped.
    let fails = next.role == Role::Exception && block.end != End::InterruptReturn;
    if let Some(accesses) = block.last_may_fail.filter(|_| fails) {
        let is_carried_out =
            !block.is_kernel() && accesses > 0 && deltas.accesses >= u64::from(accesses);
        if !is_carried_out {
            return part(block.count - 1);
        }
    }
    Executed { count: block.count, is_whole: true }
}

#[cfg(test)]
pub mod tests {
    use super::{CounterDeltas, Executed, executed};
    use crate::code::block::Block;
    use crate::code::decoder::InstructionDecoder;
    use crate::qemu_api::LONGEST;
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

    /// The block with that code, at that address.
    pub fn block(address: u64, code: &[&[u8]]) -> Block {
        let symbols = Symbols::read(SYMBOLS).expect("symbols");
        let mut decoder = InstructionDecoder::new();
        let mut at = address;
        let mut instructions = Vec::new();
        for bytes in code {
            let mut padded = [0; LONGEST];
            padded[..bytes.len()].copy_from_slice(bytes);
            instructions.extend(decoder.decode(at, &padded, bytes.len()));
            at += bytes.len() as u64;
        }
        Block::of(&instructions, &symbols).expect("a block")
    }

    fn counts(block: &Block, begun: u64, accesses: u64, next: &Block) -> (u16, bool) {
        let deltas = CounterDeltas { kernel: 0, programs: begun, starts: 0, accesses };
        let Executed { count, is_whole } = executed(block, deltas, next);
        (count, is_whole)
    }

    #[test]
    fn how_far_a_block_came_is_known_to_the_instruction() {
        let fault = &block(KERNEL, &[NOP]);
        let user = &block(0x2000, &[NOP, LOAD, NOP, NOP, RETURN]);
        let after = &block(0x2003, &[NOP]);
        assert_eq!(counts(user, 5, 1, fault), (5, true)); // the next block could not be fetched
        assert_eq!(counts(user, 5, 0, fault), (4, false)); // the return failed
        assert_eq!(counts(user, 5, 0, after), (5, true));
        assert_eq!(counts(user, 1, 0, fault), (1, false)); // the load failed
        assert_eq!(counts(user, 1, 0, after), (2, false)); // QEMU executed it in a block of its own
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
