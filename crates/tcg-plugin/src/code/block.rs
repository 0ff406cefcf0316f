//! A block of the guest's code as QEMU translates it, with all that following it needs.

use alloc::vec::Vec;
use core::cell::Cell;

use crate::code::decoder::{Decoded, End, Fails};
use crate::stacks::call_tree::{Label, Node};
use crate::symbols::{KernelFunction, Role, Symbols, is_kernel};

/// The number of a block in a callback. From 1; the last bit is free.
pub type BlockNumber = u32;

/// An instruction at which a block may be left early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// How many instructions are before it.
    pub before: u16,
    /// How many of the block's instructions are counted once it begins. In the kernel that includes
    /// itself, in a program only if it is the last.
    pub counted: u16,
    /// The address of the next instruction.
    pub next: u64,
}

/// Neighbouring instructions of one function of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The function.
    pub function: KernelFunction,
    /// How many instructions.
    pub count: u16,
}

/// A block of code.
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Block {
    /// Its number.
    pub number: BlockNumber,
    /// The address of its first instruction.
    pub start: u64,
    /// The address behind its last instruction.
    pub next: u64,
    /// How many instructions it has.
    pub count: u16,
    /// How it ends.
    pub end: End,
    /// The target of its jump, if the code contains it; if its last instruction is repeated, that
    /// instruction.
    pub target: u64,
    /// Whether it ends with an unconditional jump.
    pub jumps: bool,
    /// Whether nothing is counted when its first instruction begins, which may fail.
    pub starts: bool,
    /// How many accesses to memory its last instruction makes, if that may fail.
    pub last_may_fail: Option<u8>,
    /// Whether it ends with a clock reading that begins or ends a window.
    pub is_reading: bool,
    /// Whether it ends with a clock reading that is noted for the trace.
    pub is_mark: bool,
    /// The role of the function that begins with it.
    pub role: Role,
    /// The instructions that may fail, and the last. A failure by the kernel's own stack can't
    /// happen.
    pub points: Vec<Point>,
    /// The kernel's functions that it contains; empty in a program.
    pub parts: Vec<Part>,
    /// The process that it ran in last, and its function there.
    pub seen: Cell<Option<(Node, Label)>>,
    /// Whether its function is a thunk of indirect calls, which jumps by a return.
    pub is_thunk: bool,
    /// Whether its begin is noted for the trace.
    pub is_noted: bool,
}

/// The most instructions of a block; QEMU has 512.
const MOST: usize = u16::MAX as usize;

impl Block {
    /// Whether it is the kernel's.
    pub fn is_kernel(&self) -> bool {
        is_kernel(self.start)
    }

    /// Whether it is of one function, without a role, and does not read the clock.
    pub fn is_plain(&self) -> bool {
        let is_read = self.is_reading || self.is_mark;
        self.role == Role::Plain && self.parts.len() < 2 && !self.is_noted && !is_read
    }

    /// The block of those instructions; `None` without any.
    pub fn of(code: &[Decoded], symbols: &Symbols) -> Option<Self> {
        let (first, last) = (code.first()?, code.last()?);
        let is_kernel = is_kernel(first.address);
        let count = u16::try_from(code.len().min(MOST)).unwrap_or(u16::MAX);
        let mut points = Vec::new();
        for (before, one) in (0..count).zip(code) {
            let may_fail = match one.fails {
                Fails::Never => false,
                Fails::WithoutStack => !is_kernel,
                Fails::Maybe => true,
            };
            if may_fail || before + 1 == count {
                let counts_itself = is_kernel || before + 1 == count;
                let counted = before + u16::from(counts_itself);
                points.push(Point { before, counted, next: one.address.wrapping_add(one.length) });
            }
        }
        let parts = if is_kernel { parts(code, symbols) } else { Vec::new() };
        let role = symbols.role(first.address);
        let is_reading = last.reads_clock && symbols.is_reading(last.address);
        let is_mark = last.reads_clock && symbols.trace_points.is_mark(last.address);
        let is_noted = symbols.trace_points.is_noted(first.address);
        Some(Self {
            number: 0,
            start: first.address,
            next: last.address.wrapping_add(last.length),
            count,
            end: last.end,
            target: last.target,
            jumps: last.jumps,
            starts: points.first().is_some_and(|point| point.counted == 0),
            last_may_fail: (last.fails != Fails::Never).then_some(last.accesses),
            is_reading,
            is_mark,
            role,
            points,
            parts,
            seen: Cell::new(None),
            is_thunk: is_kernel && symbols.is_thunk(first.address),
            is_noted,
        })
    }
}

/// The parts of a block, each of one function.
fn parts(code: &[Decoded], symbols: &Symbols) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for one in code {
        let function = symbols.kernel(one.address);
        match parts.last_mut() {
            Some(part) if part.function == function => part.count += 1,
            _ => parts.push(Part { function, count: 1 }),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::{Block, Point};
    use crate::code::decoder::tests::decoded;
    use crate::symbols::Symbols;

    #[test]
    fn a_block_has_the_points_at_which_it_may_be_left() {
        let symbols = Symbols::read(b"reading 1007\n").expect("symbols");
        let code =
            decoded(&[&[0x90], &[0x8b, 0x07], &[0x01, 0xc8], &[0x90], &[0x90], &[0x0f, 0x31]]);
        let block = Block::of(&code, &symbols).expect("a block");
        let points = [(1, 1, 0x1003), (5, 6, 0x1009)];
        let points = points.map(|(before, counted, next)| Point { before, counted, next });
        assert_eq!(*block.points, points);
        assert_eq!((block.count, block.next), (6, 0x1009));
        assert!(block.is_reading && !block.is_kernel() && block.parts.is_empty());
        assert!(Block::of(&[], &symbols).is_none());
    }
}
