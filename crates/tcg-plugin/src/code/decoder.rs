//! Decoding of single instructions: how each ends a block, whether it may fail, and what it
//! accesses.

use alloc::boxed::Box;
use alloc::vec;

use iced_x86::{
    Code, Decoder, DecoderError, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory,
    Mnemonic, OpAccess, OpKind, Register, UsedMemory,
};

use crate::interner::FACTOR;
use crate::qemu_api::LONGEST;

/// How a block ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// Sequentially, or by a jump with its target in the code.
    On,
    /// By a jump to an address from a register or memory.
    Indirect,
    /// By a call. It returns to the instruction behind the block.
    Call,
    /// By a return from a call.
    Return,
    /// By a return from an interrupt.
    InterruptReturn,
    /// By a return to the program that called the kernel.
    UserReturn,
    /// By a system call or software interrupt.
    Trap,
}

/// What an instruction does with the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StackUse {
    /// It pushes.
    Push,
    /// It pops.
    Pop,
    /// Something else.
    Other,
}

/// Whether an instruction may fail or be repeated, so that it begins without being completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fails {
    /// It can't.
    Never,
    /// If its stack is not mapped; the kernel's always is.
    WithoutStack,
    /// It may.
    Maybe,
}

/// What counting needs to know of an instruction.
pub struct Decoded {
    /// Its address.
    pub address: u64,
    /// Whether it may fail.
    pub fails: Fails,
    /// How many accesses to memory it makes when it completes.
    pub accesses: u8,
    /// What it does with the stack.
    pub stack_use: StackUse,
    /// Whether it reads the time-stamp counter.
    pub reads_clock: bool,
    pub end: End,
    /// Whether it jumps unconditionally.
    pub jumps: bool,
    /// The target of a jump that the code contains. A repeated instruction is its own target.
    pub target: u64,
    pub length: u64,
}

/// The same as [`Decoded`], but for what depends on the address.
#[derive(Clone, Copy)]
struct Kind {
    fails: Fails,
    accesses: u8,
    stack_use: StackUse,
    reads_clock: bool,
    end: End,
    jumps: bool,
    /// The distance to the target that the code contains; 0: the instruction is repeated.
    reach: Option<i32>,
}

/// An instruction's bytes, padded with zeros, and their number.
type Bytes = u128;

/// A decoded instruction, by its bytes.
#[derive(Clone, Copy)]
struct Known {
    bytes: Bytes,
    kind: Option<Kind>,
}

/// How many decoded instructions are cached: QEMU translates the same code again and again.
const REMEMBERED: usize = 1 << 14;
const NO_BYTES: Known = Known { bytes: Bytes::MAX, kind: None };
/// The size of a page of memory.
const PAGE: u64 = 4096;
/// No operation. Our own programs pass time with it.
const NOP: u8 = 0x90;
const NOTHING: Kind = Kind {
    fails: Fails::Never,
    accesses: 0,
    stack_use: StackUse::Other,
    reads_clock: false,
    end: End::On,
    jumps: false,
    reach: None,
};

/// Decodes instructions.
pub struct InstructionDecoder {
    info: InstructionInfoFactory,
    known: Box<[Known]>,
}

impl InstructionDecoder {
    /// A decoder with an empty cache.
    pub fn new() -> Self {
        Self { info: InstructionInfoFactory::new(), known: vec![NO_BYTES; REMEMBERED].into() }
    }

    /// Decodes an instruction, by its first `length` bytes; `None` if the rest is in another page.
    ///
    /// QEMU ends a block before an instruction that extends into another page, but lists the bytes
    /// that it has read of that.
    pub fn decode(
        &mut self,
        address: u64,
        bytes: &[u8; LONGEST],
        length: usize,
    ) -> Option<Decoded> {
        let is_nothing = length == 1 && bytes[0] == NOP;
        let kind = match if is_nothing { Some(NOTHING) } else { self.kind(bytes, length) } {
            Some(kind) => kind,
            None if PAGE - address % PAGE < LONGEST as u64 => return None,
            None => NOTHING, // an invalid instruction: it fails, and counts
        };
        let Kind { fails, accesses, stack_use, reads_clock, end, jumps, reach } = kind;
        let length = length as u64;
        let target = reach.map_or(0, |reach| address.wrapping_add_signed(reach.into()));
        Some(Decoded {
            address,
            fails,
            accesses,
            stack_use,
            reads_clock,
            end,
            jumps,
            target,
            length,
        })
    }

    /// Decodes an instruction, or takes it from the cache.
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
        // It is decoded at address 0, so the target is the distance.
        let reach = if has_target { signed(one.near_branch_target()) } else { None };
        Some(Kind {
            fails: self.fails(&one, accesses),
            accesses,
            stack_use: match one.mnemonic() {
                Mnemonic::Push => StackUse::Push,
                Mnemonic::Pop => StackUse::Pop,
                _ => StackUse::Other,
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

/// Whether an instruction that accesses no memory may still fail, and is not counted then.
fn may_fault(one: &Instruction) -> bool {
    let divides = matches!(one.mnemonic(), Mnemonic::Div | Mnemonic::Idiv);
    divides || (one.is_privileged() && one.flow_control() == FlowControl::Next)
}

/// The same bits as a signed number, if they fit.
fn signed(bits: u64) -> Option<i32> {
    i32::try_from(i64::from_ne_bytes(bits.to_ne_bytes())).ok()
}

/// The index of an instruction in the cache.
#[allow(clippy::cast_possible_truncation, reason = "it is less than there are")]
fn slot(bytes: Bytes) -> usize {
    let mixed = (bytes as u64 ^ ((bytes >> 64) as u64).rotate_left(29)).wrapping_mul(FACTOR);
    (mixed >> 32) as usize % REMEMBERED
}

/// Whether QEMU repeats an instruction, and returns to it each time.
fn is_repeated(one: &Instruction) -> bool {
    one.is_string_instruction() && (one.has_rep_prefix() || one.has_repne_prefix())
}

/// Whether a call only fills the processor's return stack buffer. Before it switches to another
/// process the kernel calls over a single byte, and never returns from that.
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

#[cfg(test)]
pub mod tests {
    use super::{Decoded, End, Fails, InstructionDecoder};
    use crate::qemu_api::LONGEST;
    use alloc::vec::Vec;

    const PLACE: u64 = 0x1000;

    pub fn decoded(code: &[&[u8]]) -> Vec<Decoded> {
        decoded_at(PLACE, code)
    }

    fn decoded_at(mut address: u64, code: &[&[u8]]) -> Vec<Decoded> {
        let mut decoder = InstructionDecoder::new();
        let next = |bytes: &&[u8]| {
            let mut padded = [0; LONGEST];
            padded[..bytes.len()].copy_from_slice(bytes);
            let one = decoder.decode(address, &padded, bytes.len());
            address += bytes.len() as u64;
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
            (&[0xe8, 1, 0, 0, 0], End::On), // never returned from
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
        assert_eq!(decoded(&[&[0x06]]).len(), 1); // an invalid one
    }
}
