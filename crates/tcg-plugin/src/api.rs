//! QEMU's plugin API, declared here, in each of its versions that we know.
//!
//! QEMU compares `qemu_plugin_version` of a plugin with the versions that it supports: 7.2 has version
//! 1, 9.0 has 2 and refuses 1, and so on to 11.0 with 6. One file serves them all: what differs
//! between versions is named weakly, and when the plugin is loaded it claims the version whose
//! functions are there.
//!
//! Besides, the plugin reads the guest's memory for the names of processes. Version 5 has a function
//! for that. Before it, QEMU's own is used where the QEMU exports it, as Debian's do for their
//! modules; without it processes have no names.

use core::arch::global_asm;
use core::ffi::{c_int, c_uint, c_void};
use core::mem::transmute;
use core::ptr;
use core::sync::atomic::{AtomicI32, AtomicUsize, Ordering};

/// What QEMU calls this plugin.
pub type Id = u64;
/// A block that is being translated.
pub type Translation = *mut c_void;
/// An instruction of it.
pub type Instruction = *mut c_void;

/// Called for each block that is translated.
pub type OnTranslation = unsafe extern "C" fn(Id, Translation);
/// Called for each block that is executed, before it is.
pub type OnBlock = unsafe extern "C" fn(c_uint, *mut c_void);
/// Called for each access to memory, after it.
pub type OnAccess = unsafe extern "C" fn(c_uint, u32, u64, *mut c_void);
/// Called when the processor has nothing to do.
pub type OnIdle = unsafe extern "C" fn(Id, c_uint);
/// Called when QEMU ends.
pub type OnEnd = unsafe extern "C" fn(Id, *mut c_void);

/// The callback touches none of the processor's registers.
const NO_REGISTERS: c_int = 0;
/// Reads and writes. To ask for one of them is no use: QEMU 7.2 hands over writes to those who asked
/// for reads, and both to those who asked for writes.
const ACCESSES: c_int = 3;
/// What an inline operation does: add.
const ADD: c_int = 0;

/// What the version of the API is that QEMU finds; set as the plugin is loaded.
#[unsafe(no_mangle)]
pub static qemu_plugin_version: AtomicI32 = AtomicI32::new(1);

// The addresses of QEMU's functions, 0 where it has none of that name.
global_asm!(
    ".weak qemu_plugin_register_vcpu_tb_trans_cb",
    ".weak qemu_plugin_register_vcpu_tb_exec_cb",
    ".weak qemu_plugin_register_vcpu_insn_exec_inline",
    ".weak qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu",
    ".weak qemu_plugin_register_vcpu_mem_cb",
    ".weak qemu_plugin_register_vcpu_mem_inline",
    ".weak qemu_plugin_register_vcpu_mem_inline_per_vcpu",
    ".weak qemu_plugin_register_vcpu_idle_cb",
    ".weak qemu_plugin_register_atexit_cb",
    ".weak qemu_plugin_tb_n_insns",
    ".weak qemu_plugin_tb_get_insn",
    ".weak qemu_plugin_insn_vaddr",
    ".weak qemu_plugin_insn_size",
    ".weak qemu_plugin_insn_data",
    ".weak qemu_plugin_scoreboard_new",
    ".weak qemu_plugin_scoreboard_find",
    ".weak qemu_plugin_register_vcpu_tb_exec_cond_cb",
    ".weak qemu_plugin_read_memory_vaddr",
    ".weak qemu_plugin_read_memory_hwaddr",
    ".weak qemu_plugin_register_vcpu_discon_cb",
    ".weak qemu_plugin_mem_is_store",
    ".weak cpu_physical_memory_rw",
    ".pushsection .data.rel.ro.hardcost,\"aw\",@progbits",
    ".balign 8",
    ".globl hardcost_qemu_functions",
    ".hidden hardcost_qemu_functions",
    "hardcost_qemu_functions:",
    ".quad qemu_plugin_register_vcpu_tb_trans_cb",
    ".quad qemu_plugin_register_vcpu_tb_exec_cb",
    ".quad qemu_plugin_register_vcpu_insn_exec_inline",
    ".quad qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu",
    ".quad qemu_plugin_register_vcpu_mem_cb",
    ".quad qemu_plugin_register_vcpu_mem_inline",
    ".quad qemu_plugin_register_vcpu_mem_inline_per_vcpu",
    ".quad qemu_plugin_register_vcpu_idle_cb",
    ".quad qemu_plugin_register_atexit_cb",
    ".quad qemu_plugin_tb_n_insns",
    ".quad qemu_plugin_tb_get_insn",
    ".quad qemu_plugin_insn_vaddr",
    ".quad qemu_plugin_insn_size",
    ".quad qemu_plugin_insn_data",
    ".quad qemu_plugin_scoreboard_new",
    ".quad qemu_plugin_scoreboard_find",
    ".quad qemu_plugin_register_vcpu_tb_exec_cond_cb",
    ".quad qemu_plugin_read_memory_vaddr",
    ".quad qemu_plugin_read_memory_hwaddr",
    ".quad qemu_plugin_register_vcpu_discon_cb",
    ".quad qemu_plugin_mem_is_store",
    ".quad cpu_physical_memory_rw",
    ".popsection",
);

/// How many functions the table has.
const FUNCTIONS: usize = 22;

unsafe extern "C" {
    static hardcost_qemu_functions: [usize; FUNCTIONS];
}

/// Places in the table.
#[derive(Clone, Copy)]
enum Function {
    OnTranslation,
    OnBlock,
    InstructionInline,
    InstructionInlineEach,
    OnAccess,
    AccessInline,
    AccessInlineEach,
    OnIdle,
    OnEnd,
    Instructions,
    Instruction,
    Address,
    Size,
    Bytes,
    NewScores,
    FindScores,
    ConditionalBlock,
    ReadVirtual,
    ReadPhysical,
    Discontinuity,
    IsStore,
    PhysicalMemory,
}

/// Where QEMU has that function; 0 where it has none.
fn address(function: Function) -> usize {
    // SAFETY: the table is that long, and the loader has filled it in.
    unsafe { ptr::read_volatile((&raw const hardcost_qemu_functions[0]).add(function as usize)) }
}

/// Calls the function at that place of the table, of that type.
macro_rules! call {
    ($function:expr, fn($($type:ty),*) $(-> $result:ty)?, $($argument:expr),*) => {{
        let place = address($function);
        // SAFETY: QEMU declares it so, in the versions that are claimed; `is_there` or `version`
        // has looked whether it is there.
        let function = unsafe { transmute::<usize, unsafe extern "C" fn($($type),*) $(-> $result)?>(place) };
        // SAFETY: the arguments are those that QEMU gave, or our own statics.
        unsafe { function($($argument),*) }
    }};
}

/// Claims the newest version of the API whose functions this QEMU has.
fn claim_version() {
    let newest = [
        (Function::Discontinuity, 6),
        (Function::ReadPhysical, 5),
        (Function::ReadVirtual, 4),
        (Function::ConditionalBlock, 3),
        (Function::InstructionInlineEach, 2),
    ];
    let found = newest.into_iter().find(|(function, _)| address(*function) != 0);
    qemu_plugin_version.store(found.map_or(1, |(_, version)| version), Ordering::Relaxed);
}

/// Runs before QEMU looks at the version.
extern "C" fn on_load() {
    claim_version();
}

#[used]
#[unsafe(link_section = ".init_array")]
static ON_LOAD: extern "C" fn() = on_load;

fn version() -> i32 {
    qemu_plugin_version.load(Ordering::Relaxed)
}

/// A member of an entry of QEMU's scoreboard, which has an entry for each processor.
#[repr(C)]
#[derive(Clone, Copy)]
struct Scored {
    scores: *mut c_void,
    offset: usize,
}

/// A number that code of the guest adds to: as a static of ours, or in a scoreboard.
pub struct Counter {
    own: AtomicUsize,
    scores: AtomicUsize,
}

impl Counter {
    /// One at 0.
    pub const fn new() -> Self {
        Self { own: AtomicUsize::new(0), scores: AtomicUsize::new(0) }
    }

    /// Has QEMU make room for it, where it counts in a place of its own.
    pub fn make(&self) {
        if version() >= 2 {
            let scores = call!(Function::NewScores, fn(usize) -> *mut c_void, size_of::<u64>());
            self.scores.store(scores as usize, Ordering::Relaxed);
        }
    }

    /// Where the first processor's is; QEMU may move it while there is none yet.
    pub fn place(&self) -> *mut u64 {
        match self.scores.load(Ordering::Relaxed) {
            0 => self.own.as_ptr().cast(),
            scores => call!(
                Function::FindScores,
                fn(*mut c_void, c_uint) -> *mut c_void,
                scores as *mut c_void,
                0
            )
            .cast(),
        }
    }

    fn scored(&self) -> Scored {
        Scored { scores: self.scores.load(Ordering::Relaxed) as *mut c_void, offset: 0 }
    }

    /// Adds so much to it before each execution of the instruction.
    pub fn count_begun(&self, instruction: Instruction, much: u64) {
        if version() >= 2 {
            call!(
                Function::InstructionInlineEach,
                fn(Instruction, c_int, Scored, u64),
                instruction,
                ADD,
                self.scored(),
                much
            );
        } else {
            call!(
                Function::InstructionInline,
                fn(Instruction, c_int, *mut u64, u64),
                instruction,
                ADD,
                self.place(),
                much
            );
        }
    }

    /// Adds 1 to it after each access to memory that the instruction makes.
    pub fn count_accesses(&self, instruction: Instruction) {
        if version() >= 2 {
            call!(
                Function::AccessInlineEach,
                fn(Instruction, c_int, c_int, Scored, u64),
                instruction,
                ACCESSES,
                ADD,
                self.scored(),
                1
            );
        } else {
            call!(
                Function::AccessInline,
                fn(Instruction, c_int, c_int, *mut u64, u64),
                instruction,
                ACCESSES,
                ADD,
                self.place(),
                1
            );
        }
    }
}

/// Hears of translations, of idleness, and of the end.
pub fn listen(id: Id, on_translation: OnTranslation, on_idle: OnIdle, on_end: OnEnd) {
    call!(Function::OnTranslation, fn(Id, OnTranslation), id, on_translation);
    call!(Function::OnIdle, fn(Id, OnIdle), id, on_idle);
    call!(Function::OnEnd, fn(Id, OnEnd, *mut c_void), id, on_end, ptr::null_mut());
}

/// Hears of each execution of a block; `data` is handed back.
pub fn on_block(block: Translation, heard: OnBlock, data: *mut c_void) {
    call!(
        Function::OnBlock,
        fn(Translation, OnBlock, c_int, *mut c_void),
        block,
        heard,
        NO_REGISTERS,
        data
    );
}

/// Hears of each access to memory of an instruction.
pub fn on_access(instruction: Instruction, heard: OnAccess) {
    call!(
        Function::OnAccess,
        fn(Instruction, OnAccess, c_int, c_int, *mut c_void),
        instruction,
        heard,
        NO_REGISTERS,
        ACCESSES,
        ptr::null_mut()
    );
}

/// Whether an access, of which QEMU says that, is a write.
pub fn is_write(about: u32) -> bool {
    call!(Function::IsStore, fn(u32) -> bool, about)
}

/// The instructions of a block.
pub fn instructions(block: Translation) -> impl Iterator<Item = Instruction> {
    let count = call!(Function::Instructions, fn(Translation) -> usize, block);
    (0..count).map(move |index| {
        call!(Function::Instruction, fn(Translation, usize) -> Instruction, block, index)
    })
}

/// Where an instruction is in the guest's memory.
pub fn place(instruction: Instruction) -> u64 {
    call!(Function::Address, fn(Instruction) -> u64, instruction)
}

/// The longest instruction, in bytes.
pub const LONGEST: usize = 15;

/// An instruction's bytes, and how many there are.
pub fn bytes(instruction: Instruction) -> ([u8; LONGEST], usize) {
    let mut bytes = [0; LONGEST];
    let size = call!(Function::Size, fn(Instruction) -> usize, instruction).min(LONGEST);
    if version() >= 3 {
        let into: *mut c_void = bytes.as_mut_ptr().cast();
        call!(
            Function::Bytes,
            fn(Instruction, *mut c_void, usize) -> usize,
            instruction,
            into,
            size
        );
    } else {
        let from = call!(Function::Bytes, fn(Instruction) -> *const u8, instruction);
        // SAFETY: QEMU has that many bytes there.
        unsafe { ptr::copy_nonoverlapping(from, bytes.as_mut_ptr(), size) };
    }
    (bytes, size)
}

/// Reads the guest's memory at a physical address; whether that could be done.
pub fn read(physical: u64, into: &mut [u8]) -> bool {
    // `GByteArray` is a structure of the library GLib, which QEMU allocates: not worth having for a
    // function that older versions have under another name.
    if address(Function::PhysicalMemory) == 0 {
        return false;
    }
    call!(
        Function::PhysicalMemory,
        fn(u64, *mut u8, u64, bool),
        physical,
        into.as_mut_ptr(),
        into.len() as u64,
        false
    );
    true
}
