//! The QEMU plugin that counts how many instructions each function executed, under which callers.
//!
//! hardcost passes it to the QEMU that runs a trial (`-plugin`), with two files, `symbols` to be
//! read (see [`symbols`]) and `out` to be written when QEMU ends, and with the number of clock
//! readings to ignore (`skip`) and of processors to follow (`processors`). The plugin never changes
//! what the guest executes, nor the guest's clock.
//!
//! One thread of QEMU executes all processors in turns, so one thread at a time calls the plugin.
//!
//! - `lib.rs`: the arguments, and what is called for each translated and each begun block
//! - `qemu_api.rs`: all functions of QEMU's, and which version of them is claimed
//! - `code/`: looks at each block once, when QEMU translates it: which instructions call, return or
//!   fail, which blocks get no callback
//! - `follower.rs`: is called as blocks run: windows, processes, and counting; it says what each
//!   file of `follower/` decides
//! - `stacks/`: call stacks as values, without reading anything
//! - `symbols.rs`: the file of symbols, and what is at an address
//! - `process_names.rs`: the running process's name, out of the guest's memory
//! - `trace_points.rs`: what else is noted for a trace; `interner.rs`: equal values as one number
//! - `allocator.rs` and `libc_files.rs` replace the standard library
//!
//! Which functions are listed, and what is made of the report, is Python's:
//! `src/hardcost/machines/vm/plugin` and `src/hardcost/protocol/plugin`.

#![cfg_attr(not(test), no_std)]

extern crate alloc;

#[cfg(feature = "alone")]
mod allocator;
mod code;
mod follower;
mod interner;
mod libc_files;
mod process_names;
mod qemu_api;
mod stacks;
mod symbols;
mod trace_points;

use alloc::vec::Vec;
use core::cell::{Cell, UnsafeCell};
use core::ffi::{CStr, c_char, c_int, c_uint, c_void};
use core::ptr;

use crate::code::block::{Block, BlockNumber};
use crate::code::block_counters::BLOCK_START;
use crate::code::decoder::{Decoded, InstructionDecoder, StackUse};
use crate::code::skipped_blocks::JumpTargets;
use crate::follower::Follower;
use crate::follower::state_graph::StateWalk;
use crate::qemu_api::{Counter, Id, Instruction, Listener, OnBlock, Translation};
use crate::symbols::{Symbols, is_kernel};
use crate::trace_points::AccessPurpose;

/// The most processors that are followed: two, and those that hardcost measures.
const MOST_PROCESSORS: usize = 18;

/// How many instructions of the kernel and of programs were executed; see [`code::block_counters`].
static KERNEL: Counter = Counter::new();
static PROGRAMS: Counter = Counter::new();
/// How many accesses to memory the last instructions of programs' blocks made.
static ACCESSES: Counter = Counter::new();
/// What each processor executes.
static WALKS: [StateWalk; MOST_PROCESSORS] = [const { StateWalk::new() }; MOST_PROCESSORS];
static PLUGIN: Shared = Shared(UnsafeCell::new(None));

static TURN: Turn = Turn {
    is_several: Cell::new(false),
    running: Cell::new(ptr::null()),
    walk: Cell::new(ptr::null()),
};

/// Whose turn it is.
struct Turn {
    /// Whether there are several processors.
    is_several: Cell<bool>,
    /// QEMU's processor, and its walk.
    running: Cell<*const c_void>,
    walk: Cell<*const StateWalk>,
}

// SAFETY: one thread at a time calls the plugin.
unsafe impl Sync for Turn {}

impl Turn {
    /// The walk of the processor on which a block begins.
    #[inline]
    fn walk(&self) -> &'static StateWalk {
        if self.is_several.get() {
            let running = qemu_api::running_processor();
            if running != self.running.get() {
                changes_turn(running);
            }
        }
        // SAFETY: one of `WALKS`, once the plugin is installed.
        unsafe { &*self.walk.get() }
    }
}

#[cold]
#[inline(never)]
extern "C" fn changes_turn(running: *const c_void) {
    // SAFETY: one thread at a time.
    if let Some(plugin) = unsafe { plugin() } {
        plugin.turn_to(running);
    }
}

/// What the plugin has once it is installed.
struct Plugin {
    follower: Follower,
    decoder: InstructionDecoder,
    jump_targets: JumpTargets,
    out: *const c_char,
}

/// Access by one thread at a time.
struct Shared(UnsafeCell<Option<Plugin>>);

// SAFETY: QEMU calls the plugin from the thread of all processors while one runs, and from its main
// thread before and after.
unsafe impl Sync for Shared {}

/// The plugin.
///
/// # Safety
///
/// No other reference to it exists.
unsafe fn plugin() -> Option<&'static mut Plugin> {
    // SAFETY: as the caller says.
    unsafe { (*PLUGIN.0.get()).as_mut() }
}

/// QEMU has loaded the plugin. 0: it may run.
///
/// # Safety
///
/// QEMU calls it, with so many arguments.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qemu_plugin_install(
    id: Id,
    _about: *const c_void,
    count: c_int,
    arguments: *const *const c_char,
) -> c_int {
    let (mut symbols, mut out) = (None, ptr::null::<c_char>());
    let (mut skip, mut processors) = (0, 1);
    for index in 0..usize::try_from(count).unwrap_or(0) {
        // SAFETY: there are so many, and they stay.
        let argument = unsafe { CStr::from_ptr(*arguments.add(index)) };
        let bytes = argument.to_bytes_with_nul();
        if let Some(path) = bytes.strip_prefix(b"symbols=") {
            symbols = CStr::from_bytes_with_nul(path).ok().and_then(libc_files::read_all);
        } else if let Some(path) = bytes.strip_prefix(b"out=") {
            out = path.as_ptr().cast();
        } else if let Some(text) = argument.to_bytes().strip_prefix(b"skip=") {
            skip = number_in(text).unwrap_or(0);
        } else if let Some(text) = argument.to_bytes().strip_prefix(b"processors=") {
            processors = number_in(text).unwrap_or(1);
        }
    }
    let Some(symbols) = symbols.and_then(|text| Symbols::read(&text)) else { return 1 };
    let walks = usize::try_from(processors).ok().and_then(|many| WALKS.get(..many));
    let Some(walks) = walks.filter(|walks| !walks.is_empty() && !out.is_null()) else {
        return 1;
    };
    if walks.len() > 1 && !qemu_api::shows_processors() {
        return 1;
    }
    TURN.is_several.set(walks.len() > 1);
    TURN.walk.set(&raw const WALKS[0]);
    let follower = Follower::new(symbols, qemu_api::read, skip, walks);
    let (decoder, jump_targets) = (InstructionDecoder::new(), JumpTargets::default());
    let plugin = Plugin { follower, decoder, jump_targets, out };
    // SAFETY: no callback is registered yet.
    unsafe { *PLUGIN.0.get() = Some(plugin) };
    if !TURN.is_several.get() {
        [&KERNEL, &PROGRAMS, &ACCESSES].into_iter().for_each(Counter::make_inline);
    }
    qemu_api::listen::<Plugin>(id);
    0
}

/// The number in an argument.
fn number_in(text: &[u8]) -> Option<u64> {
    core::str::from_utf8(text).ok()?.parse().ok()
}

impl Plugin {
    /// Finds the counters. QEMU may move them as it makes processors, and then translates all code
    /// again.
    fn point_to_counters(&self) {
        let [kernel, programs, accesses] = [&KERNEL, &PROGRAMS, &ACCESSES].map(Counter::pointer);
        for walk in self.follower.walks {
            walk.counters.point_to(kernel, programs, accesses);
        }
    }

    /// QEMU executes another processor.
    fn turn_to(&mut self, running: *const c_void) {
        let mut numbers = 0..self.follower.walks.len();
        if let Some(number) = numbers.find(|&number| qemu_api::processor(number) == running) {
            TURN.running.set(running);
            TURN.walk.set(&raw const WALKS[number]);
            self.follower.turn_to(number);
        }
    }

    /// Registers the counting of a block's instructions, and a callback unless the block is
    /// skipped.
    fn translated(&mut self, translation: Translation) {
        let instructions: Vec<_> = qemu_api::instructions(translation).collect();
        let code: Vec<Decoded> = instructions
            .iter()
            .map_while(|&one| {
                let (bytes, size) = qemu_api::bytes(one);
                self.decoder.decode(qemu_api::address(one), &bytes, size)
            })
            .collect();
        self.point_to_counters();
        let symbols = &self.follower.symbols;
        let Some(block) = Block::of(&code, symbols) else { return };
        count_block(&block, &instructions);
        let traced = block.is_kernel() && !symbols.trace_points.is_empty();
        for (&instruction, one) in instructions.iter().zip(&code).filter(|_| traced) {
            match symbols.access_purpose(one.address) {
                Some(AccessPurpose::Wakes) => qemu_api::on_access(instruction, accessed),
                Some(AccessPurpose::Answers) => qemu_api::on_access(instruction, answered),
                Some(AccessPurpose::Asks) => qemu_api::on_access(instruction, asked),
                None => {}
            }
        }
        // Where a turn ended is known only if each block has a callback.
        let may_skip = !TURN.is_several.get()
            && self.jump_targets.may_skip(&block, symbols, &mut self.follower.skipped);
        if may_skip {
            self.follower.skipped.starts.insert(block.start);
            return;
        }
        let last = code.len().checked_sub(1).map(|last| instructions[last]);
        let accesses = block.last_may_fail.is_some_and(|accesses| accesses > 0);
        if let Some(last) = last.filter(|_| !block.is_kernel() && accesses) {
            ACCESSES.count_accesses(last, adds_access);
        }
        let switches =
            code.iter().any(|one| is_kernel(one.address) && symbols.is_switch(one.address));
        for (&instruction, one) in instructions.iter().zip(&code).filter(|_| switches) {
            match one.stack_use {
                StackUse::Push => qemu_api::on_access(instruction, pushed),
                StackUse::Pop => qemu_api::on_access(instruction, popped),
                StackUse::Other => {}
            }
        }
        // The block is never freed: QEMU may execute it until the end, and does not report when it
        // can't.
        let callback = match (block.is_reading, block.is_kernel()) {
            (true, _) => begun_reading,
            (false, true) => begun_in_kernel,
            (false, false) => begun_in_program,
        };
        let number = self.follower.blocks.add(block);
        qemu_api::on_block(translation, callback, ptr::without_provenance_mut(number as usize));
    }
}

/// Registers the counting of a block's instructions.
fn count_block(block: &Block, instructions: &[Instruction]) {
    let (counter, add): (_, OnBlock) =
        if block.is_kernel() { (&KERNEL, adds_to_kernel) } else { (&PROGRAMS, adds_to_programs) };
    if block.starts {
        counter.count_begun(instructions[0], BLOCK_START, add);
    }
    let mut done = 0;
    for point in &block.points {
        if point.counted > done {
            let much = point.counted - done;
            let at = instructions[usize::from(point.before)];
            counter.count_begun(at, much.into(), add);
            done = point.counted;
        }
    }
}

impl Listener for Plugin {
    fn translated(block: Translation) {
        // SAFETY: one thread at a time.
        if let Some(plugin) = unsafe { plugin() } {
            plugin.translated(block);
        }
    }

    fn idle() {
        // SAFETY: one thread at a time.
        if let Some(plugin) = unsafe { plugin() } {
            plugin.follower.count_idle();
        }
    }

    fn ended() {
        // SAFETY: the processor has stopped.
        if let Some(plugin) = unsafe { plugin() } {
            // SAFETY: QEMU's arguments stay.
            let out = unsafe { CStr::from_ptr(plugin.out) };
            libc_files::write_all(out, plugin.follower.report().as_bytes());
        }
    }
}

unsafe extern "C" fn begun_in_kernel(_: c_uint, block: *mut c_void) {
    let number = number(block);
    if !TURN.walk().steps_in_kernel(number) {
        begun_elsewhere(number);
    }
}

unsafe extern "C" fn begun_in_program(_: c_uint, block: *mut c_void) {
    let number = number(block);
    if !TURN.walk().steps_in_program(number) {
        begun_elsewhere(number);
    }
}

unsafe extern "C" fn begun_reading(_: c_uint, block: *mut c_void) {
    TURN.walk();
    begun_elsewhere(number(block)); // a window begins or ends
}

unsafe extern "C" fn adds_to_kernel(_: c_uint, much: *mut c_void) {
    KERNEL.add(much.addr() as u64);
}

unsafe extern "C" fn adds_to_programs(_: c_uint, much: *mut c_void) {
    PROGRAMS.add(much.addr() as u64);
}

unsafe extern "C" fn adds_access(_: c_uint, _: u32, _: u64, _: *mut c_void) {
    ACCESSES.add(1);
}

/// The number of a block, out of a callback's data.
#[allow(clippy::cast_possible_truncation, reason = "it is no larger")]
fn number(block: *mut c_void) -> BlockNumber {
    block.addr() as BlockNumber
}

/// Works out the state after a block whose step is not known yet. Apart, so that the fast path
/// stays short.
#[cold]
#[inline(never)]
extern "C" fn begun_elsewhere(block: BlockNumber) {
    // SAFETY: one thread at a time.
    if let Some(plugin) = unsafe { plugin() } {
        plugin.follower.block(block);
    }
}

unsafe extern "C" fn pushed(_: c_uint, _: u32, address: u64, _: *mut c_void) {
    // SAFETY: one thread at a time.
    if let Some(plugin) = unsafe { plugin() } {
        plugin.follower.push(address);
    }
}

unsafe extern "C" fn popped(_: c_uint, _: u32, address: u64, _: *mut c_void) {
    // SAFETY: one thread at a time.
    if let Some(plugin) = unsafe { plugin() } {
        plugin.follower.pop(address);
    }
}

unsafe extern "C" fn accessed(_: c_uint, about: u32, address: u64, _: *mut c_void) {
    // SAFETY: one thread at a time.
    if let Some(plugin) = unsafe { plugin() } {
        let writes = qemu_api::is_write(about);
        plugin.follower.access(AccessPurpose::Wakes, address, writes);
    }
}

unsafe extern "C" fn answered(_: c_uint, about: u32, address: u64, _: *mut c_void) {
    // SAFETY: one thread at a time.
    if let Some(plugin) = unsafe { plugin() } {
        let writes = qemu_api::is_write(about);
        plugin.follower.access(AccessPurpose::Answers, address, writes);
    }
}

unsafe extern "C" fn asked(_: c_uint, about: u32, address: u64, _: *mut c_void) {
    // SAFETY: one thread at a time.
    if let Some(plugin) = unsafe { plugin() } {
        let writes = qemu_api::is_write(about);
        plugin.follower.access(AccessPurpose::Asks, address, writes);
    }
}
