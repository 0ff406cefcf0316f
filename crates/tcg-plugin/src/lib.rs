//! The QEMU plugin that says which function executed how many instructions, under which callers.
//!
//! hardcost gives it to the QEMU that runs a trial (`-plugin`), with two files: `symbols`, which it
//! reads (see [`symbols`]), and `out`, into which it writes what it has seen when QEMU ends; and with
//! how many readings of the clock it is to pass over (`skip`). It only watches: the guest's clock
//! counts the guest's instructions, and those stay what they are.
//!
//! A guest has one processor, so that one thread at a time calls the plugin.

#![cfg_attr(not(test), no_std)]

extern crate alloc;

mod api;
mod blocks;
mod context;
mod decode;
mod files;
mod follow;
mod frames;
mod guest;
mod landings;
#[cfg(feature = "alone")]
mod memory;
mod noteworthy;
mod numbers;
mod progress;
mod schedule;
mod states;
mod sums;
mod symbols;
mod tree;

use alloc::vec::Vec;
use core::cell::UnsafeCell;
use core::ffi::{CStr, c_char, c_int, c_uint, c_void};
use core::ptr;

use crate::api::{Counter, Id, Listener, Translation};
use crate::decode::{Block, BlockNumber, Decoded, Decoding, Stack};
use crate::follow::Follower;
use crate::landings::Landings;
use crate::noteworthy::Heard;
use crate::progress::START;
use crate::states::Walk;
use crate::symbols::{Symbols, is_kernel};

/// How many instructions of the kernel, and of programs, were executed; see [`progress`].
static KERNEL: Counter = Counter::new();
static PROGRAMS: Counter = Counter::new();
/// How many accesses to memory the last instructions of programs' blocks made.
static ACCESSES: Counter = Counter::new();
static WALK: Walk = Walk::new();
static PLUGIN: Shared = Shared(UnsafeCell::new(None));

/// What the plugin has, once it is installed.
struct Plugin {
    follower: Follower,
    decoding: Decoding,
    landings: Landings,
    out: *const c_char,
}

/// One thread at a time has it.
struct Shared(UnsafeCell<Option<Plugin>>);

// SAFETY: QEMU calls the plugin from the processor's thread while that runs, and from its main thread
// before and after; a guest has one processor.
unsafe impl Sync for Shared {}

/// The plugin.
///
/// # Safety
///
/// Nobody else holds it.
unsafe fn plugin() -> Option<&'static mut Plugin> {
    // SAFETY: as the caller says.
    unsafe { (*PLUGIN.0.get()).as_mut() }
}

/// QEMU has loaded the plugin. 0: it may begin.
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
            symbols = CStr::from_bytes_with_nul(path).ok().and_then(files::read_all);
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
    let follower = Follower::new(symbols, api::read, skip, &WALK);
    let (decoding, landings) = (Decoding::new(), Landings::default());
    let plugin = Plugin { follower, decoding, landings, out };
    // SAFETY: nobody is called yet.
    unsafe { *PLUGIN.0.get() = Some(plugin) };
    KERNEL.make();
    PROGRAMS.make();
    ACCESSES.make();
    api::listen::<Plugin>(id);
    0
}

impl Plugin {
    /// Has QEMU count what a block executes, and say when it begins, if it has to be heard of.
    fn translated(&mut self, translation: Translation) {
        let instructions: Vec<_> = api::instructions(translation).collect();
        let code: Vec<Decoded> = instructions
            .iter()
            .map_while(|&one| {
                let (bytes, size) = api::bytes(one);
                self.decoding.decode(api::place(one), &bytes, size)
            })
            .collect();
        WALK.gauges.point_to(KERNEL.place(), PROGRAMS.place(), ACCESSES.place());
        let symbols = &self.follower.symbols;
        let Some(block) = Block::of(&code, symbols) else { return };
        let counter = if block.is_kernel() { &KERNEL } else { &PROGRAMS };
        if block.starts {
            counter.count_begun(instructions[0], START);
        }
        let mut done = 0;
        for point in &block.points {
            if point.counted > done {
                let much = point.counted - done;
                counter.count_begun(instructions[usize::from(point.before)], much.into());
                done = point.counted;
            }
        }
        let traced = block.is_kernel() && !symbols.wanted.is_empty();
        for (&instruction, one) in instructions.iter().zip(&code).filter(|_| traced) {
            match symbols.heard(one.place) {
                Some(Heard::Wakes) => api::on_access(instruction, accessed),
                Some(Heard::Answers) => api::on_access(instruction, answered),
                Some(Heard::Asks) => api::on_access(instruction, asked),
                None => {}
            }
        }
        if self.landings.pass_over(&block, symbols, &mut self.follower.unheard) {
            self.follower.unheard.starts.insert(block.start);
            return;
        }
        let last = code.len().checked_sub(1).map(|last| instructions[last]);
        let accesses = block.last_may_fail.is_some_and(|accesses| accesses > 0);
        if let Some(last) = last.filter(|_| !block.is_kernel() && accesses) {
            ACCESSES.count_accesses(last);
        }
        let switches = code.iter().any(|one| is_kernel(one.place) && symbols.is_switch(one.place));
        for (&instruction, one) in instructions.iter().zip(&code).filter(|_| switches) {
            match one.stack {
                Stack::Push => api::on_access(instruction, pushed),
                Stack::Pop => api::on_access(instruction, popped),
                Stack::Other => {}
            }
        }
        // It stays as long as QEMU may execute it, which nobody says.
        let heard = match (block.is_reading, block.is_kernel()) {
            (true, _) => begun_reading,
            (false, true) => begun_in_kernel,
            (false, false) => begun_in_program,
        };
        let number = self.follower.blocks.add(block);
        api::on_block(translation, heard, ptr::without_provenance_mut(number as usize));
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
            plugin.follower.rest();
        }
    }

    fn ended() {
        // SAFETY: the processor has stopped.
        if let Some(plugin) = unsafe { plugin() } {
            // SAFETY: QEMU's arguments stay.
            let out = unsafe { CStr::from_ptr(plugin.out) };
            files::write_all(out, plugin.follower.report().as_bytes());
        }
    }
}

unsafe extern "C" fn begun_in_kernel(_: c_uint, block: *mut c_void) {
    let number = number(block);
    if !WALK.goes_in_kernel(number) {
        begun_elsewhere(number);
    }
}

unsafe extern "C" fn begun_in_program(_: c_uint, block: *mut c_void) {
    let number = number(block);
    if !WALK.goes_in_program(number) {
        begun_elsewhere(number);
    }
}

unsafe extern "C" fn begun_reading(_: c_uint, block: *mut c_void) {
    begun_elsewhere(number(block)); // a window begins or ends
}

/// The number of a block, as it was handed over.
#[allow(clippy::cast_possible_truncation, reason = "it is no larger")]
fn number(block: *mut c_void) -> BlockNumber {
    block.addr() as BlockNumber
}

/// Has the follower work out where a block leads.
#[cold]
#[inline(never)]
extern "C" fn begun_elsewhere(block: BlockNumber) {
    // SAFETY: one thread at a time.
    if let Some(plugin) = unsafe { plugin() } {
        plugin.follower.block(block);
    }
}

unsafe extern "C" fn pushed(_: c_uint, _: u32, place: u64, _: *mut c_void) {
    // SAFETY: one thread at a time.
    if let Some(plugin) = unsafe { plugin() } {
        plugin.follower.push(place);
    }
}

unsafe extern "C" fn popped(_: c_uint, _: u32, place: u64, _: *mut c_void) {
    // SAFETY: one thread at a time.
    if let Some(plugin) = unsafe { plugin() } {
        plugin.follower.pop(place);
    }
}

unsafe extern "C" fn accessed(_: c_uint, about: u32, place: u64, _: *mut c_void) {
    // SAFETY: one thread at a time.
    if let Some(plugin) = unsafe { plugin() } {
        plugin.follower.access(Heard::Wakes, place, api::is_write(about));
    }
}

unsafe extern "C" fn answered(_: c_uint, about: u32, place: u64, _: *mut c_void) {
    // SAFETY: one thread at a time.
    if let Some(plugin) = unsafe { plugin() } {
        plugin.follower.access(Heard::Answers, place, api::is_write(about));
    }
}

unsafe extern "C" fn asked(_: c_uint, about: u32, place: u64, _: *mut c_void) {
    // SAFETY: one thread at a time.
    if let Some(plugin) = unsafe { plugin() } {
        plugin.follower.access(Heard::Asks, place, api::is_write(about));
    }
}
