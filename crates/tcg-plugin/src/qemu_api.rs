//! QEMU's plugin API: its functions, in all versions that are supported.
//!
//! QEMU compares `qemu_plugin_version` of a plugin with the versions that it supports: 7.2 has
//! version 1, 9.0 has 2 and refuses 1, and so on to 11.1 with 7. One file serves them all:
//! functions that some versions lack are weak symbols, and when the plugin is loaded it claims the
//! version whose functions exist. Version 7 has the functions of 6 with other callbacks. So
//! hardcost passes the version of QEMU (`qemu`), and the plugin reads it from the command line,
//! since QEMU passes a plugin's arguments only after the comparison.
//!
//! The plugin also reads the guest's memory, for the names of processes. Version 5 has a function
//! for that. Before it QEMU's own is used where QEMU exports it, as Debian's does for its modules;
//! without it processes have no names.

#[cfg(not(test))]
use core::arch::asm;
use core::arch::global_asm;
use core::ffi::{c_int, c_uint, c_void};
use core::mem::transmute;
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, AtomicUsize, Ordering};

use crate::libc_files;

/// QEMU's number for this plugin.
pub type Id = u64;
/// A block that is being translated.
pub type Translation = *mut c_void;
/// An instruction of a block.
pub type Instruction = *mut c_void;

/// Called before each execution of a block.
pub type OnBlock = unsafe extern "C" fn(c_uint, *mut c_void);
/// Called after each access to memory.
pub type OnAccess = unsafe extern "C" fn(c_uint, u32, u64, *mut c_void);
/// Events other than the execution of a block.
pub trait Listener {
    /// A block is translated.
    fn translated(block: Translation);
    /// The processor has nothing to do.
    fn idle();
    /// QEMU ends.
    fn ended();
}

/// The callback uses none of the processor's registers.
const NO_REGISTERS: c_int = 0;
/// Reads and writes. Asking for one kind is no use: QEMU 7.2 passes writes to those who asked for
/// reads, and both to those who asked for writes.
const ACCESSES: c_int = 3;
/// The inline operation: add.
const ADD: c_int = 0;

/// The version of the API that QEMU reads; set when the plugin is loaded.
#[unsafe(no_mangle)]
pub static qemu_plugin_version: AtomicI32 = AtomicI32::new(1);

// The addresses of QEMU's functions, 0 for those that it lacks.
global_asm!(
    ".weak qemu_plugin_register_vcpu_tb_trans_cb",
    ".weak qemu_plugin_register_vcpu_tb_exec_cb",
    ".weak qemu_plugin_register_vcpu_insn_exec_cb",
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
    ".weak qemu_plugin_set_pc",
    ".weak qemu_plugin_mem_is_store",
    ".weak cpu_physical_memory_rw",
    ".weak qemu_get_cpu",
    ".weak g_byte_array_new",
    ".weak g_byte_array_unref",
    ".pushsection .data.rel.ro.hardcost,\"aw\",@progbits",
    ".balign 8",
    ".globl hardcost_qemu_functions",
    ".hidden hardcost_qemu_functions",
    "hardcost_qemu_functions:",
    ".quad qemu_plugin_register_vcpu_tb_trans_cb",
    ".quad qemu_plugin_register_vcpu_tb_exec_cb",
    ".quad qemu_plugin_register_vcpu_insn_exec_cb",
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
    ".quad qemu_plugin_set_pc",
    ".quad qemu_plugin_mem_is_store",
    ".quad cpu_physical_memory_rw",
    ".quad qemu_get_cpu",
    ".quad g_byte_array_new",
    ".quad g_byte_array_unref",
    ".popsection",
);

/// The length of the table.
const FUNCTIONS: usize = 26;

unsafe extern "C" {
    static hardcost_qemu_functions: [usize; FUNCTIONS];
}

/// Indices of the table.
#[derive(Clone, Copy)]
enum Function {
    OnTranslation,
    OnBlock,
    OnInstruction,
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
    SetPc,
    IsStore,
    PhysicalMemory,
    GetCpu,
    NewBytes,
    DropBytes,
}

/// The address of a function of QEMU; 0 if QEMU lacks it.
fn function_address(function: Function) -> usize {
    // SAFETY: the table is that long, and the loader has filled it in.
    unsafe { ptr::read_volatile((&raw const hardcost_qemu_functions[0]).add(function as usize)) }
}

/// Calls the function at an index of the table, with its type.
macro_rules! call {
    ($function:expr, fn($($type:ty),*) $(-> $result:ty)?, $($argument:expr),*) => {{
        let address = function_address($function);
        // SAFETY: QEMU declares it so in the claimed versions, and the caller has checked that it
        // exists.
        let function = unsafe { transmute::<usize, unsafe extern "C" fn($($type),*) $(-> $result)?>(address) };
        // SAFETY: the arguments are those that QEMU gave, or statics of this plugin.
        unsafe { function($($argument),*) }
    }};
}

/// The version from which callbacks get data, and no `Id`.
const WITH_DATA: i32 = 7;
/// The first QEMU with that version.
const QEMU_WITH_DATA: (u32, u32) = (11, 1);

/// Claims the newest version of the API whose functions QEMU has.
fn claim_version() {
    let newest = [
        (Function::SetPc, 6),
        (Function::ReadPhysical, 5),
        (Function::ReadVirtual, 4),
        (Function::ConditionalBlock, 3),
        (Function::InstructionInlineEach, 2),
    ];
    let found = newest.into_iter().find(|(function, _)| function_address(*function) != 0);
    let version = match found {
        None => 1,
        Some((Function::SetPc, _)) if is_with_data() => WITH_DATA,
        Some((_, version)) => version,
    };
    qemu_plugin_version.store(version, Ordering::Relaxed);
}

/// Whether hardcost named a QEMU that passes data to callbacks.
fn is_with_data() -> bool {
    let words = libc_files::read_all(c"/proc/self/cmdline").unwrap_or_default();
    said_qemu(&words).is_some_and(|qemu| qemu >= QEMU_WITH_DATA)
}

/// The version of QEMU in the plugin's arguments: its first two parts.
fn said_qemu(words: &[u8]) -> Option<(u32, u32)> {
    let mut arguments = words.split(|byte| matches!(byte, b',' | 0));
    let said = arguments.find_map(|one| one.strip_prefix(b"qemu="))?;
    let mut parts = core::str::from_utf8(said).ok()?.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
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

/// A member of an entry in QEMU's scoreboard, which has one entry for each processor.
#[repr(C)]
#[derive(Clone, Copy)]
struct Scored {
    scores: *mut c_void,
    offset: usize,
}

/// A number that the guest's code adds to: in a static of the plugin, or in a scoreboard.
///
/// Unless it is made inline, callbacks add to it. Where one thread executes several processors,
/// QEMU 10 multiplies a constant by 8 with each inline addition of a block that it translates for
/// another processor than the first: additions go astray, and so may whatever else uses that
/// constant (`gen_plugin_u64_ptr` of its `plugin-gen.c`).
pub struct Counter {
    own: AtomicU64,
    scores: AtomicUsize,
    is_inline: AtomicBool,
}

impl Counter {
    /// A counter at 0.
    pub const fn new() -> Self {
        Self {
            own: AtomicU64::new(0),
            scores: AtomicUsize::new(0),
            is_inline: AtomicBool::new(false),
        }
    }

    /// Has QEMU add to it without a callback, in a scoreboard where it knows these.
    pub fn make_inline(&self) {
        self.is_inline.store(true, Ordering::Relaxed);
        if version() >= 2 {
            let scores = call!(Function::NewScores, fn(usize) -> *mut c_void, size_of::<u64>());
            self.scores.store(scores as usize, Ordering::Relaxed);
        }
    }

    /// The address of the number; QEMU may move it before a processor exists.
    pub fn pointer(&self) -> *mut u64 {
        match self.scores.load(Ordering::Relaxed) {
            0 => self.own.as_ptr(),
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

    /// Adds in a callback. One thread at a time does.
    #[inline]
    pub fn add(&self, much: u64) {
        self.own.store(self.own.load(Ordering::Relaxed) + much, Ordering::Relaxed);
    }

    /// Adds `much` before each execution of the instruction; `add` does where that is no inline
    /// operation.
    pub fn count_begun(&self, instruction: Instruction, much: u64, add: OnBlock) {
        if !self.is_inline.load(Ordering::Relaxed) {
            call!(
                Function::OnInstruction,
                fn(Instruction, OnBlock, c_int, *mut c_void),
                instruction,
                add,
                NO_REGISTERS,
                ptr::without_provenance_mut(usize::try_from(much).unwrap_or(usize::MAX))
            );
        } else if version() >= 2 {
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
                self.pointer(),
                much
            );
        }
    }

    /// Adds 1 after each access to memory of the instruction; `add` does where that is no inline
    /// operation.
    pub fn count_accesses(&self, instruction: Instruction, add: OnAccess) {
        if !self.is_inline.load(Ordering::Relaxed) {
            on_access(instruction, add);
        } else if version() >= 2 {
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
                self.pointer(),
                1
            );
        }
    }
}

unsafe extern "C" fn translated<L: Listener>(_: Id, block: Translation) {
    L::translated(block);
}

unsafe extern "C" fn translated_with_data<L: Listener>(block: Translation, _: *mut c_void) {
    L::translated(block);
}

// The arguments of these two differ between versions, and are ignored.

unsafe extern "C" fn idle<L: Listener>() {
    L::idle();
}

unsafe extern "C" fn ended<L: Listener>() {
    L::ended();
}

/// Whether QEMU shows its processors, as Debian's does to its modules.
pub fn shows_processors() -> bool {
    function_address(Function::GetCpu) != 0
}

/// QEMU's processor of that number.
pub fn processor(number: usize) -> *const c_void {
    let number = c_int::try_from(number).unwrap_or(-1);
    call!(Function::GetCpu, fn(c_int) -> *mut c_void, number).cast_const()
}

/// QEMU's processor that this thread executes, where QEMU shows its processors.
///
/// QEMU 10 passes to callbacks the number of the one that a block was translated on instead, where
/// one thread executes all of them.
#[cfg(not(test))]
#[inline]
pub fn running_processor() -> *const c_void {
    let running: *const c_void;
    // SAFETY: a variable of this thread, which QEMU has if it has `qemu_get_cpu`.
    unsafe {
        asm!(
            ".weak current_cpu",
            "mov {running}, qword ptr [rip + current_cpu@gottpoff]",
            "mov {running}, qword ptr fs:[{running}]",
            running = out(reg) running,
            options(nostack, readonly, preserves_flags),
        );
    }
    running
}

/// The same, in a test: there is no QEMU.
#[cfg(test)]
pub fn running_processor() -> *const c_void {
    ptr::null()
}

/// Registers the listener for translations, idleness and the end.
pub fn listen<L: Listener>(id: Id) {
    type ById = unsafe extern "C" fn(Id, Translation);
    type WithData = unsafe extern "C" fn(Translation, *mut c_void);
    type Plain = unsafe extern "C" fn();
    let none: *mut c_void = ptr::null_mut();
    if version() >= WITH_DATA {
        let callback = translated_with_data::<L>;
        call!(Function::OnTranslation, fn(Id, WithData, *mut c_void), id, callback, none);
    } else {
        call!(Function::OnTranslation, fn(Id, ById), id, translated::<L>);
    }
    // An older QEMU takes no data, and ignores it.
    call!(Function::OnIdle, fn(Id, Plain, *mut c_void), id, idle::<L>, none);
    call!(Function::OnEnd, fn(Id, Plain, *mut c_void), id, ended::<L>, none);
}

/// Registers a callback for each execution of a block, with `data`.
pub fn on_block(block: Translation, callback: OnBlock, data: *mut c_void) {
    call!(
        Function::OnBlock,
        fn(Translation, OnBlock, c_int, *mut c_void),
        block,
        callback,
        NO_REGISTERS,
        data
    );
}

/// Registers a callback for each access to memory of an instruction.
pub fn on_access(instruction: Instruction, callback: OnAccess) {
    call!(
        Function::OnAccess,
        fn(Instruction, OnAccess, c_int, c_int, *mut c_void),
        instruction,
        callback,
        NO_REGISTERS,
        ACCESSES,
        ptr::null_mut()
    );
}

/// Whether an access is a write, by QEMU's description of it.
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

/// The address of an instruction in the guest's memory.
pub fn address(instruction: Instruction) -> u64 {
    call!(Function::Address, fn(Instruction) -> u64, instruction)
}

/// The longest instruction, in bytes.
pub const LONGEST: usize = 15;

/// An instruction's bytes, and their number.
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
        // SAFETY: QEMU has so many bytes there.
        unsafe { ptr::copy_nonoverlapping(from, bytes.as_mut_ptr(), size) };
    }
    (bytes, size)
}

/// `GLib`'s byte array, as far as it is used.
#[repr(C)]
struct Bytes {
    data: *const u8,
    length: c_uint,
}

/// Reads the guest's memory at a physical address; whether that worked.
pub fn read(physical: u64, into: &mut [u8]) -> bool {
    if version() >= 5
        && function_address(Function::NewBytes) != 0
        && function_address(Function::DropBytes) != 0
    {
        return read_by_glib(physical, into);
    }
    if function_address(Function::PhysicalMemory) == 0 {
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

/// The same where QEMU reads into an array of `GLib`.
fn read_by_glib(physical: u64, into: &mut [u8]) -> bool {
    let bytes = call!(Function::NewBytes, fn() -> *mut Bytes,);
    let failed = call!(
        Function::ReadPhysical,
        fn(u64, *mut Bytes, usize) -> c_int,
        physical,
        bytes,
        into.len()
    );
    // SAFETY: GLib made it, and QEMU set its length.
    let there = unsafe { &*bytes };
    let is_read = failed == 0 && there.length as usize == into.len();
    if is_read {
        // SAFETY: so many bytes are there.
        unsafe { ptr::copy_nonoverlapping(there.data, into.as_mut_ptr(), into.len()) };
    }
    call!(Function::DropBytes, fn(*mut Bytes), bytes);
    is_read
}

#[cfg(test)]
mod tests {
    use super::{QEMU_WITH_DATA, said_qemu};

    #[test]
    fn the_qemu_that_is_named_to_the_plugin_is_found_in_the_command_line() {
        let named = |said: &str| {
            let words = ["qemu\0-plugin\0file=./plugin,out=profile,", said, "\0-nodefaults\0"];
            said_qemu(words.concat().as_bytes())
        };
        assert_eq!(named("qemu=7.2.22"), Some((7, 2)));
        assert_eq!(named("qemu=11.1.3"), Some(QEMU_WITH_DATA));
        assert_eq!(named("qemu=12.0"), Some((12, 0)));
        assert!(Some((12, 0)) > Some(QEMU_WITH_DATA));
        assert!(Some((11, 0)) < Some(QEMU_WITH_DATA));
        assert_eq!(named("qemu=of,skip=1"), None);
        assert_eq!(named("skip=1"), None);
    }
}
