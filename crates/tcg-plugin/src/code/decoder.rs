//! A block of the guest's code as QEMU translates it: what it takes to follow it while it runs.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::cell::Cell;

use iced_x86::{
    Code, Decoder, DecoderError, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory,
    Mnemonic, OpAccess, OpKind, Register, UsedMemory,
};

use crate::api::LONGEST;
use crate::numbers::FACTOR;
use crate::symbols::{KernelFunction, Role, Symbols, is_kernel};
use crate::tree::{Label, Node};

/// The number of a block, by which it is known while it runs. From 1; the last bit is free.
pub type BlockNumber = u32;

/// How a block ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// By going on behind it, or by a jump whose targets are in the code.
    On,
    /// By a jump to an address that a register or memory holds.
    Indirect,
    /// By a call; the instruction behind it is where it returns to.
    Call,
    /// By a return from a call.
    Return,
    /// By a return from an interrupt.
    InterruptReturn,
    /// By a return to the program that called the kernel.
    UserReturn,
    /// By entering the kernel on purpose.
    Trap,
}

/// What an instruction does with the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stack {
    /// It puts something there.
    Push,
    /// It takes something from there.
    Pop,
    /// Something else.
    Other,
}

/// Whether an instruction may fail or be repeated, so that it is begun without being carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fails {
    /// It can't.
    Never,
    /// Where its stack is not there; the kernel's always is.
    WithoutStack,
    /// It may.
    Maybe,
}

/// What an instruction is to whoever counts.
pub struct Decoded {
    /// Where it begins.
    pub place: u64,
    /// Whether it may fail.
    fails: Fails,
    /// How many accesses to memory it makes when it is carried out.
    accesses: u8,
    /// What it does with the stack.
    pub stack: Stack,
    /// Whether it reads the time-stamp counter.
    pub reads_clock: bool,
    end: End,
    /// Whether it goes on elsewhere in any case.
    jumps: bool,
    /// The target of a jump that stands in the code; of what is repeated, itself.
    target: u64,
    length: u64,
}

/// What an instruction is wherever it stands.
#[derive(Clone, Copy)]
struct Kind {
    fails: Fails,
    accesses: u8,
    stack: Stack,
    reads_clock: bool,
    end: End,
    jumps: bool,
    /// How far from it the target of a jump is that stands in the code; 0: it is repeated.
    reach: Option<i32>,
}

/// An instruction's bytes, filled up with zeros, and how many they are.
type Bytes = u128;

/// What is known of instructions with these bytes.
#[derive(Clone, Copy)]
struct Known {
    bytes: Bytes,
    kind: Option<Kind>,
}

/// How many instructions are remembered: QEMU translates much again and again.
const REMEMBERED: usize = 1 << 14;
const NO_BYTES: Known = Known { bytes: Bytes::MAX, kind: None };
/// How large a page of memory is.
const PAGE: u64 = 4096;
/// Does nothing. Programs of ours pass time with them.
const NOP: u8 = 0x90;
const NOTHING: Kind = Kind {
    fails: Fails::Never,
    accesses: 0,
    stack: Stack::Other,
    reads_clock: false,
    end: End::On,
    jumps: false,
    reach: None,
};

/// Decodes instructions.
pub struct Decoding {
    info: InstructionInfoFactory,
    known: Box<[Known]>,
}

impl Decoding {
    /// Gets ready.
    pub fn new() -> Self {
        Self { info: InstructionInfoFactory::new(), known: vec![NO_BYTES; REMEMBERED].into() }
    }

    /// What an instruction is, by so many of its bytes; `None` where the rest is in another page.
    ///
    /// QEMU ends a block before an instruction that reaches into another page, and lists what it has
    /// read of that all the same.
    pub fn decode(&mut self, place: u64, bytes: &[u8; LONGEST], length: usize) -> Option<Decoded> {
        let is_nothing = length == 1 && bytes[0] == NOP;
        let kind = match if is_nothing { Some(NOTHING) } else { self.kind(bytes, length) } {
            Some(kind) => kind,
            None if PAGE - place % PAGE < LONGEST as u64 => return None,
            None => NOTHING, // no instruction that there is: it fails, and counts
        };
        let Kind { fails, accesses, stack, reads_clock, end, jumps, reach } = kind;
        let length = length as u64;
        let target = reach.map_or(0, |reach| place.wrapping_add_signed(reach.into()));
        Some(Decoded { place, fails, accesses, stack, reads_clock, end, jumps, target, length })
    }

    /// What an instruction is, which is worked out once.
    fn kind(&mut self, bytes: &[u8; LONGEST], length: usize) -> Option<Kind> {
        let mut key = [0; size_of::<Bytes>()];
        key[..length].copy_from_slice(&bytes[..length]);
        key[LONGEST] = u8::try_from(length).unwrap_or(u8::MAX);
        let key = Bytes::from_ne_bytes(key);
        let slot = slot(key);
        if self.known[slot].bytes == key {
            return self.known[slot].kind;
        }
        let kind = self.worked_out(&bytes[..length]);
        self.known[slot] = Known { bytes: key, kind };
        kind
    }

    fn worked_out(&mut self, bytes: &[u8]) -> Option<Kind> {
        let mut decoder = Decoder::with_ip(64, bytes, 0, DecoderOptions::NONE);
        let one = decoder.decode();
        if decoder.last_error() == DecoderError::NoMoreBytes {
            return None;
        }
        let accesses = self.accesses(&one);
        let has_target = one.op_count() > 0 && one.op0_kind() == OpKind::NearBranch64;
        // It is at address 0 here, and a jump reaches no further.
        let reach = if has_target { signed(one.near_branch_target()) } else { None };
        Some(Kind {
            fails: self.fails(&one, accesses),
            accesses,
            stack: match one.mnemonic() {
                Mnemonic::Push => Stack::Push,
                Mnemonic::Pop => Stack::Pop,
                _ => Stack::Other,
            },
            reads_clock: one.code() == Code::Rdtsc,
            end: end(&one),
            jumps: one.flow_control() == FlowControl::UnconditionalBranch,
            reach: reach.or(is_repeated(&one).then_some(0)),
        })
    }

    fn fails(&mut self, one: &Instruction, accesses: u8) -> Fails {
        let is_on_stack = |memory: &UsedMemory| {
            memory.base() == Register::RSP && memory.index() == Register::None
        };
        if may_fault(one) {
            Fails::Maybe
        } else if accesses == 0 {
            Fails::Never
        } else if self.info.info(one).used_memory().iter().all(is_on_stack) {
            Fails::WithoutStack
        } else {
            Fails::Maybe
        }
    }

    /// How many accesses to memory an instruction makes.
    fn accesses(&mut self, one: &Instruction) -> u8 {
        let is_one_access = one.has_lock_prefix() || one.mnemonic() == Mnemonic::Xchg;
        let used = self.info.info(one).used_memory();
        let count = used.iter().map(|memory| match memory.access() {
            OpAccess::None | OpAccess::NoMemAccess => 0,
            OpAccess::ReadWrite | OpAccess::ReadCondWrite if !is_one_access => 2,
            _ => 1,
        });
        count.sum()
    }
}

/// Whether an instruction that accesses no memory may fail all the same, and is not counted then.
fn may_fault(one: &Instruction) -> bool {
    let divides = matches!(one.mnemonic(), Mnemonic::Div | Mnemonic::Idiv);
    divides || (one.is_privileged() && one.flow_control() == FlowControl::Next)
}

/// The same bits with a sign, if there are few enough.
fn signed(bits: u64) -> Option<i32> {
    i32::try_from(i64::from_ne_bytes(bits.to_ne_bytes())).ok()
}

/// Where what is known of an instruction is kept.
#[allow(clippy::cast_possible_truncation, reason = "it is less than there are")]
fn slot(bytes: Bytes) -> usize {
    let mixed = (bytes as u64 ^ ((bytes >> 64) as u64).rotate_left(29)).wrapping_mul(FACTOR);
    (mixed >> 32) as usize % REMEMBERED
}

/// Whether QEMU carries an instruction out again and again, and goes back to it each time.
fn is_repeated(one: &Instruction) -> bool {
    one.is_string_instruction() && (one.has_rep_prefix() || one.has_repne_prefix())
}

/// Whether a call just fills the processor's buffer of return addresses: the kernel does so before
/// one process goes on instead of another, by calls over a single byte that never return.
fn fills_buffer(one: &Instruction) -> bool {
    let calls_near = one.op_count() > 0 && one.op0_kind() == OpKind::NearBranch64;
    calls_near && one.near_branch_target() == one.next_ip() + 1
}

fn end(one: &Instruction) -> End {
    match one.flow_control() {
        FlowControl::IndirectBranch => End::Indirect,
        FlowControl::Call | FlowControl::IndirectCall => match one.mnemonic() {
            Mnemonic::Syscall | Mnemonic::Sysenter => End::Trap,
            _ if fills_buffer(one) => End::On,
            _ => End::Call,
        },
        FlowControl::Return => match one.mnemonic() {
            Mnemonic::Iret | Mnemonic::Iretd | Mnemonic::Iretq => End::InterruptReturn,
            Mnemonic::Ret | Mnemonic::Retf => End::Return,
            _ => End::UserReturn,
        },
        FlowControl::Interrupt => End::Trap,
        _ => End::On,
    }
}

/// Where in a block one may stand when it is left early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// How many instructions are before it.
    pub before: u16,
    /// How many of the block's instructions have been counted once it begins: the kernel's with it, a
    /// program's only if it is the last.
    pub counted: u16,
    /// Where the next instruction begins.
    pub next: u64,
}

/// A stretch of instructions of one function of the kernel.
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
    /// Where it begins.
    pub start: u64,
    /// Where the instruction behind it begins.
    pub next: u64,
    /// How many instructions it has.
    pub count: u16,
    /// How it ends.
    pub end: End,
    /// The target of its jump, if that stands in the code; if its last instruction is repeated, that.
    pub target: u64,
    /// Whether it ends with a jump that is taken in any case.
    pub jumps: bool,
    /// Whether nothing is counted as its first instruction begins, which may fail.
    pub starts: bool,
    /// How many accesses to memory its last instruction makes, if it may fail.
    pub last_may_fail: Option<u8>,
    /// Whether it ends with reading the clock at one of the places that count.
    pub is_reading: bool,
    /// Whether it ends with reading the clock where that is to be noted.
    pub is_mark: bool,
    /// What its function is to us, where it begins with it.
    pub role: Role,
    /// The instructions that may fail, but for the kernel's own stack, and the last.
    pub points: Vec<Point>,
    /// The kernel's functions that it is of; empty in a program.
    pub parts: Vec<Part>,
    /// In which process it ran last, and what its function is there.
    pub seen: Cell<Option<(Node, Label)>>,
    /// Whether its function jumps by a return.
    pub is_thunk: bool,
    /// Whether its begin is noted.
    pub is_noted: bool,
}

/// The most instructions of a block; QEMU has 512.
const MOST: usize = u16::MAX as usize;

impl Block {
    /// Whether it is the kernel's.
    pub fn is_kernel(&self) -> bool {
        is_kernel(self.start)
    }

    /// Whether it is of one function, is nothing to us but that, and does not read the clock.
    pub fn is_plain(&self) -> bool {
        let is_read = self.is_reading || self.is_mark;
        self.role == Role::Plain && self.parts.len() < 2 && !self.is_noted && !is_read
    }

    /// The block with those instructions; `None` of none.
    pub fn of(code: &[Decoded], symbols: &Symbols) -> Option<Self> {
        let (first, last) = (code.first()?, code.last()?);
        let is_kernel = is_kernel(first.place);
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
                points.push(Point { before, counted, next: one.place.wrapping_add(one.length) });
            }
        }
        let parts = if is_kernel { parts(code, symbols) } else { Vec::new() };
        let role = symbols.role(first.place);
        let is_reading = last.reads_clock && symbols.is_reading(last.place);
        let is_mark = last.reads_clock && symbols.wanted.is_mark(last.place);
        let is_noted = symbols.wanted.is_noted(first.place);
        Some(Self {
            number: 0,
            start: first.place,
            next: last.place.wrapping_add(last.length),
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
            is_thunk: is_kernel && symbols.is_thunk(first.place),
            is_noted,
        })
    }
}

/// The stretches of a block's code that are of one function each.
fn parts(code: &[Decoded], symbols: &Symbols) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for one in code {
        let function = symbols.kernel(one.place);
        match parts.last_mut() {
            Some(part) if part.function == function => part.count += 1,
            _ => parts.push(Part { function, count: 1 }),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::{Block, Decoded, Decoding, End, Fails, Point};
    use crate::api::LONGEST;
    use crate::symbols::Symbols;
    use alloc::vec::Vec;

    const PLACE: u64 = 0x1000;

    fn decoded(code: &[&[u8]]) -> Vec<Decoded> {
        decoded_at(PLACE, code)
    }

    fn decoded_at(mut place: u64, code: &[&[u8]]) -> Vec<Decoded> {
        let mut decoding = Decoding::new();
        let next = |bytes: &&[u8]| {
            let mut padded = [0; LONGEST];
            padded[..bytes.len()].copy_from_slice(bytes);
            let one = decoding.decode(place, &padded, bytes.len());
            place += bytes.len() as u64;
            one
        };
        code.iter().map_while(next).collect()
    }

    fn one(bytes: &[u8]) -> Decoded {
        decoded(&[bytes]).pop().expect("one")
    }

    #[test]
    fn what_may_be_begun_without_being_carried_out_is_known() {
        for bytes in [&[0x8b, 0x07][..], &[0xf7, 0xf1], &[0x50], &[0xa4], &[0xc3]] {
            assert_ne!(one(bytes).fails, Fails::Never, "{bytes:x?}"); // mov, div, push, movsb, ret
        }
        for bytes in [&[0x90][..], &[0x8d, 0x07], &[0x01, 0xc8], &[0x0f, 0x0b], &[0xeb, 0x00]] {
            assert_eq!(one(bytes).fails, Fails::Never, "{bytes:x?}"); // nop, lea, add, ud2, jmp
        }
        assert_eq!(one(&[0x0f, 0x30]).fails, Fails::Maybe); // wrmsr
        for bytes in [&[0x50][..], &[0xc3], &[0x48, 0x8b, 0x44, 0x24, 0x08]] {
            assert_eq!(one(bytes).fails, Fails::WithoutStack, "{bytes:x?}"); // push, ret, mov
        }
        assert_eq!(one(&[0xff, 0x37]).fails, Fails::Maybe); // push of what is in memory
    }

    #[test]
    fn accesses_are_counted() {
        assert_eq!(one(&[0xc3]).accesses, 1); // ret
        assert_eq!(one(&[0xff, 0x17]).accesses, 2); // call [rdi]
        assert_eq!(one(&[0xa4]).accesses, 2); // movsb
        assert_eq!(one(&[0x83, 0x07, 0x01]).accesses, 2); // add [rdi], 1
        assert_eq!(one(&[0xf0, 0x83, 0x07, 0x01]).accesses, 1); // lock add
        assert_eq!(one(&[0x0f, 0x1f, 0x00]).accesses, 0); // nop [rax]
    }

    #[test]
    fn ends_are_told() {
        for (bytes, end) in [
            (&[0xe8, 0, 0, 0, 0][..], End::Call),
            (&[0xe8, 1, 0, 0, 0], End::On), // nobody returns from it
            (&[0xe8, 2, 0, 0, 0], End::Call),
            (&[0xff, 0xd0], End::Call),
            (&[0xc3], End::Return),
            (&[0x48, 0xcf], End::InterruptReturn),
            (&[0x0f, 0x05], End::Trap),
            (&[0xcd, 0x80], End::Trap),
            (&[0xff, 0xe0], End::Indirect),
            (&[0xeb, 0x05], End::On),
            (&[0x48, 0x0f, 0x07], End::UserReturn), // sysretq
        ] {
            assert_eq!(one(bytes).end, end, "{bytes:x?}");
        }
    }

    #[test]
    fn an_instruction_of_which_bytes_are_missing_is_none() {
        let cut: [&[u8]; 3] = [&[0x90], &[0x90], &[0x48, 0x8b]];
        assert_eq!(decoded_at(0x1ff8, &cut).len(), 2);
        assert_eq!(decoded_at(0x1ffe, &[&[0x90], &[]]).len(), 1);
        assert_eq!(decoded(&[&[0x06]]).len(), 1); // none that there is
    }

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
