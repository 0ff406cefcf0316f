//! The QEMU plugin that counts how many instructions each function executed, under which callers.
//!
//! hardcost passes it to the QEMU that runs a trial (`-plugin`), with two files, `symbols` to be
//! read (see [`symbols`]) and `out` to be written when QEMU ends, and with the number of clock
//! readings to ignore (`skip`). The plugin never changes what the guest executes, nor the guest's
//! clock.
//!
//! A guest has one processor, so one thread at a time calls the plugin.
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
use core::cell::UnsafeCell;
use core::ffi::{CStr, c_char, c_int, c_uint, c_void};
use core::ptr;

use crate::code::block::{Block, BlockNumber};
use crate::code::block_counters::BLOCK_START;
use crate::code::decoder::{Decoded, InstructionDecoder, StackUse};
use crate::code::skipped_blocks::JumpTargets;
use crate::follower::Follower;
use crate::follower::state_graph::StateWalk;
use crate::qemu_api::{Counter, Id, Listener, Translation};
use crate::symbols::{Symbols, is_kernel};
use crate::trace_points::AccessPurpose;

/// How many instructions of the kernel and of programs were executed; see [`code::block_counters`].
static KERNEL: Counter = Counter::new();
static PROGRAMS: Counter = Counter::new();
/// How many accesses to memory the last instructions of programs' blocks made.
static ACCESSES: Counter = Counter::new();
static WALK: StateWalk = StateWalk::new();
static PLUGIN: Shared = Shared(UnsafeCell::new(None));

/// What the plugin has once it is installed.
struct Plugin {
    follower: Follower,
    decoder: InstructionDecoder,
    jump_targets: JumpTargets,
    out: *const c_char,
}

/// Access by one thread at a time.
struct Shared(UnsafeCell<Option<Plugin>>);

// SAFETY: QEMU calls the plugin from the processor's thread while that runs, and from its main
// thread before and after. A guest has one processor.
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
    let (mut symbols, mut out, mut skip) = (None, ptr::null::<c_char>(), 0);
    for index in 0..usize::try_from(count).unwrap_or(0) {
        // SAFETY: there are so many, and they stay.
        let argument = unsafe { CStr::from_ptr(*arguments.add(index)) };
        let bytes = argument.to_bytes_with_nul();
        if let Some(path) = bytes.strip_prefix(b"symbols=") {
            symbols = CStr::from_bytes_with_nul(path).ok().and_then(libc_files::read_all);
        } else if let Some(path) = bytes.strip_prefix(b"out=") {
            out = path.as_ptr().cast();
        } else if let Some(number) = argument.to_bytes().strip_prefix(b"skip=") {
            skip =
                core::str::from_utf8(number).ok().and_then(|text| text.parse().ok()).unwrap_or(0);
        }
    }
    let Some(symbols) = symbols.and_then(|text| Symbols::read(&text)) else { return 1 };
    if out.is_null() {
        return 1;
    }
    let follower = Follower::new(symbols, qemu_api::read, skip, &WALK);
    let (decoder, jump_targets) = (InstructionDecoder::new(), JumpTargets::default());
    let plugin = Plugin { follower, decoder, jump_targets, out };
    // SAFETY: no callback is registered yet.
    unsafe { *PLUGIN.0.get() = Some(plugin) };
    KERNEL.make();
    PROGRAMS.make();
    ACCESSES.make();
    qemu_api::listen::<Plugin>(id);
    0
}

impl Plugin {
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
        WALK.counters.point_to(KERNEL.pointer(), PROGRAMS.pointer(), ACCESSES.pointer());
        let symbols = &self.follower.symbols;
        let Some(block) = Block::of(&code, symbols) else { return };
        let counter = if block.is_kernel() { &KERNEL } else { &PROGRAMS };
        if block.starts {
            counter.count_begun(instructions[0], BLOCK_START);
        }
        let mut done = 0;
        for point in &block.points {
            if point.counted > done {
                let much = point.counted - done;
                counter.count_begun(instructions[usize::from(point.before)], much.into());
                done = point.counted;
            }
        }
        let traced = block.is_kernel() && !symbols.trace_points.is_empty();
        for (&instruction, one) in instructions.iter().zip(&code).filter(|_| traced) {
            match symbols.access_purpose(one.address) {
                Some(AccessPurpose::Wakes) => qemu_api::on_access(instruction, accessed),
                Some(AccessPurpose::Answers) => qemu_api::on_access(instruction, answered),
                Some(AccessPurpose::Asks) => qemu_api::on_access(instruction, asked),
                None => {}
            }
        }
        if self.jump_targets.may_skip(&block, symbols, &mut self.follower.skipped) {
            self.follower.skipped.starts.insert(block.start);
            return;
        }
        let last = code.len().checked_sub(1).map(|last| instructions[last]);
        let accesses = block.last_may_fail.is_some_and(|accesses| accesses > 0);
        if let Some(last) = last.filter(|_| !block.is_kernel() && accesses) {
            ACCESSES.count_accesses(last);
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
    if !WALK.steps_in_kernel(number) {
        begun_elsewhere(number);
    }
}

unsafe extern "C" fn begun_in_program(_: c_uint, block: *mut c_void) {
    let number = number(block);
    if !WALK.steps_in_program(number) {
        begun_elsewhere(number);
    }
}

unsafe extern "C" fn begun_reading(_: c_uint, block: *mut c_void) {
    begun_elsewhere(number(block)); // a window begins or ends
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
        plugin.follower.access(AccessPurpose::Wakes, address, qemu_api::is_write(about));
    }
}

unsafe extern "C" fn answered(_: c_uint, about: u32, address: u64, _: *mut c_void) {
    // SAFETY: one thread at a time.
    if let Some(plugin) = unsafe { plugin() } {
        plugin.follower.access(AccessPurpose::Answers, address, qemu_api::is_write(about));
    }
}

unsafe extern "C" fn asked(_: c_uint, about: u32, address: u64, _: *mut c_void) {
    // SAFETY: one thread at a time.
    if let Some(plugin) = unsafe { plugin() } {
        plugin.follower.access(AccessPurpose::Asks, address, qemu_api::is_write(about));
    }
}
