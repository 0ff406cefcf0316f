//! Follows the guest block by block, and counts instructions by call stack.
//!
//! Our own programs read the clock at the begin of a window and at its end. Within a window an
//! instruction counts for the functions that it was executed under. Outside of windows, and in
//! windows that are not asked for, nothing is counted, and next to no time spent.
//!
//! Nothing here decodes instructions, or calls QEMU except to read the guest's memory. Whether an
//! instruction calls or returns is decided in `code/decoder.rs`.
//!
//! This file has the begin and end of windows, the switch of processes, and the choice between a
//! remembered step and one that is worked out. In `follower/`:
//!
//! - `processor.rs`: what is followed of each processor; `turns.rs`: whose turn it is, and where the
//!   others are when a window begins or ends
//! - `state_graph.rs`: remembers where each step from block to block led, and how many
//! - `cacheable_steps.rs`: which steps may be remembered
//! - `stack_changes.rs`: how the stack changes between two blocks with a callback
//! - `skipped_code.rs`: the same, and the function, where blocks without a callback ran in between
//! - `kernel_state_counts.rs`: counts of the kernel's states until they are added to the call tree
//! - `scheduler_events.rs`: for a trace, which process ran, woke or answered which
//! - `report.rs`: the text of all results

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use crate::code::block::{Block, BlockNumber};
use crate::code::block_counters::{CounterDeltas, Executed, SkippedBetween, executed};
use crate::code::numbered_blocks::NumberedBlocks;
use crate::code::skipped_blocks::SkippedBlocks;
use crate::follower::processor::Processor;
use crate::follower::scheduler_events::SchedulerEvents;
use crate::follower::state_graph::{StateId, StateWalk};
use crate::process_names::{ProcessNames, Read};
use crate::stacks::call_stack::CallStack;
use crate::stacks::call_tree::{Label, Node};
use crate::stacks::frames::Frames;
use crate::symbols::{Role, Symbols};
use crate::trace_points::AccessPurpose;

mod cacheable_steps;
mod kernel_state_counts;
mod processor;
mod report;
mod scheduler_events;
mod skipped_code;
mod stack_changes;
pub mod state_graph;
mod turns;

/// The size and alignment of a process's stack in the kernel.
const STACK: u64 = 16 << 10;
const NAMELESS: &str = "[unknown]";

/// Follows a guest.
pub struct Follower {
    /// The walks of all processors that are followed.
    pub walks: &'static [StateWalk],
    /// The processor whose turn it is, and the others.
    on: Box<Processor>,
    resting: Vec<Option<Box<Processor>>>,
    /// The blocks with a callback.
    pub blocks: NumberedBlocks,
    /// The blocks without one.
    pub skipped: SkippedBlocks,
    /// The symbols of the guest's code.
    pub symbols: Symbols,
    read: Read,
    names: Option<ProcessNames>,
    frames: Frames,
    /// The stacks of processes that do not run, by the address of each one's stack in the kernel.
    call_stacks: BTreeMap<u64, CallStack>,
    /// How many clock readings there were, and how many are ignored.
    readings: u64,
    skip: u64,
    idle: u64,
    window_lines: String,
    /// The scheduler's events; `None` without a trace.
    scheduler_events: Option<SchedulerEvents>,
}

impl Follower {
    /// A follower that ignores so many clock readings. `read` reads the guest's memory.
    pub fn new(symbols: Symbols, read: Read, skip: u64, walks: &'static [StateWalk]) -> Self {
        let scheduler_events = (!symbols.trace_points.is_empty()).then(SchedulerEvents::default);
        Self {
            walks,
            on: Box::new(Processor::new(0, &walks[0])),
            resting: processor::resting(walks).collect(),
            blocks: NumberedBlocks::default(),
            skipped: SkippedBlocks::default(),
            symbols,
            read,
            scheduler_events,
            names: None,
            frames: Frames::new(),
            call_stacks: BTreeMap::new(),
            readings: 0,
            skip,
            idle: 0,
            window_lines: String::new(),
        }
    }

    /// A block with a callback begins.
    pub fn block(&mut self, block: BlockNumber) {
        let block = self.blocks.get(block);
        let deltas = self.on.walk.counters.take();
        match self.on.state() {
            Some(from) => self.follow_step(from, deltas, block),
            None if self.on.joins => self.join(deltas, block),
            None => self.block_outside_window(deltas, block),
        }
    }

    /// A block begins after that of another state.
    fn follow_step(&mut self, from: StateId, deltas: CounterDeltas, block: &'static Block) {
        let key = self.on.graph.key(from);
        let previous = key.block;
        let begun = deltas.begun();
        let skipped = begun.saturating_sub(previous.count.into());
        let others = skipped > 0 || deltas.starts > u64::from(previous.starts);
        let executed = if others {
            Executed { count: previous.count, is_whole: true }
        } else {
            executed(previous, deltas, block)
        };
        let kernel_entry = self.on.walk.kernel_entry.get();
        self.on.current = key.call_stack.with_entry(&self.frames, kernel_entry);
        self.executes(executed.count.into());
        if executed.is_whole {
            self.on.graph.visit(from);
        }
        let times = u64::from(!executed.is_whole);
        self.on.current.run(&mut self.frames, previous, executed.count, times);
        if previous.is_mark && executed.is_whole {
            self.scheduler_events
                .iter_mut()
                .for_each(|events| events.reads(self.on.walk.total.get()));
        }
        if previous.is_reading && executed.is_whole {
            self.readings += 1;
            self.end_window();
            self.block_outside_window(CounterDeltas::default(), block);
            return;
        }
        let is_switch = self.is_process_switch(block);
        let before = if previous.is_kernel() { previous.count } else { 0 };
        let in_kernel = deltas.kernel > before.into();
        if others {
            self.pass_skipped(previous, in_kernel, block);
            self.count_skipped(skipped, in_kernel, block);
        } else {
            self.pass(previous, executed, block);
        }
        let next = self.begin_block(block);
        if self.on.graph.is_full() {
            // Neither of the two states is used any more.
            self.on.graph.clear(&mut self.frames);
            let next = self.on.graph.state(&self.frames, self.on.current, block);
            self.on.at = Some(next);
            self.on.graph.set_current(self.on.graph.at().map(|_| next));
        } else if executed.is_whole && !is_switch {
            self.cache_step(from, SkippedBetween::of(others, in_kernel), next);
        }
    }

    /// So many instructions were executed.
    fn executes(&self, instructions: u64) {
        self.on.walk.total.set(self.on.walk.total.get() + instructions);
    }

    /// A block begins outside of windows.
    fn block_outside_window(&mut self, deltas: CounterDeltas, block: &'static Block) {
        if let Some(reading) = self.on.reading.take() {
            let count = reading.count.into();
            if deltas.begun() >= count {
                self.readings += 1;
                if self.begins_window() {
                    self.begin_window();
                    self.join(CounterDeltas { programs: deltas.programs - count, ..deltas }, block);
                    return;
                }
            }
        }
        self.on.reading = block.is_reading.then_some(block);
        self.on.walk.is_outside_window.set(!block.is_reading);
    }

    /// Whether the latest reading begins a window to count in.
    fn begins_window(&self) -> bool {
        let Some(since) = self.readings.checked_sub(self.skip + 1) else { return false };
        since % 2 == 0 && self.symbols.is_window(since / 2)
    }

    /// That block runs from here on.
    fn begin_block(&mut self, block: &'static Block) -> StateId {
        let label = self.label(block);
        self.on.current.set_function(&mut self.frames, label);
        self.note_role(block);
        if let Some(events) = &mut self.scheduler_events {
            let node = self.on.current.whole_node(&mut self.frames);
            events.begins(&self.symbols.trace_points, block.start, self.on.walk.total.get(), node);
        }
        self.on.graph.set_kernel_entry(&mut self.frames, self.on.current.kernel_entry());
        let state = self.on.graph.state(&self.frames, self.on.current, block);
        self.on.at = Some(state);
        self.on.walk.is_outside_window.set(false);
        self.on.graph.set_current(self.on.at);
        state
    }

    /// A processor is idle. Time is skipped only where it is the only one.
    pub fn count_idle(&mut self) {
        self.idle += u64::from(self.on.at.is_some() && self.resting.len() < 2);
    }

    /// The running process pushes to its stack, before the switch to another process.
    pub fn push(&mut self, address: u64) {
        self.on.stack = address & !(STACK - 1);
    }

    /// The next process pops from its stack.
    pub fn pop(&mut self, address: u64) {
        if self.on.at.is_some() {
            self.on.next_stack = Some(address & !(STACK - 1));
        }
    }

    /// A function whose accesses are observed reads or writes memory.
    pub fn access(&mut self, purpose: AccessPurpose, address: u64, writes: bool) {
        if let Some(events) = self.scheduler_events.as_mut().filter(|_| self.on.at.is_some()) {
            events.access(purpose, address, writes);
        }
    }

    /// Begins to count, on all processors. Calls from before are not known.
    fn begin_window(&mut self) {
        if self.names.is_none() {
            self.names = ProcessNames::find(&self.symbols, self.read, self.walks.len());
        }
        self.call_stacks.clear();
        self.on.forget(true);
        self.resting.iter_mut().flatten().for_each(|other| other.forget(true));
        let process = self.names.as_ref().and_then(|names| names.process(self.on.number));
        if let Some(events) = &mut self.scheduler_events {
            events.begin(process);
        }
    }

    /// The running process's node.
    fn process(&mut self) -> Node {
        let name = self.names.as_ref().and_then(|names| names.current(self.on.number));
        self.frames.tree.process(name.as_deref().unwrap_or(NAMELESS))
    }

    /// Whether another process resumes where that block begins.
    fn is_process_switch(&self, block: &Block) -> bool {
        self.on.next_stack.is_some() && matches!(block.role, Role::Switched | Role::NewTask)
    }

    /// Another process resumes.
    fn switch_process(&mut self, role: Role) {
        let Some(stack) = self.on.next_stack.take() else { return };
        let process = self.process();
        let next = self.call_stacks.remove(&stack).unwrap_or_default();
        let mut last = core::mem::replace(&mut self.on.current, next);
        last.switched_away();
        if let Some(events) = &mut self.scheduler_events {
            let next = self.names.as_ref().and_then(|names| names.process(self.on.number));
            let node = last.whole_node(&mut self.frames);
            events.switched(self.on.walk.total.get(), next, node, role == Role::NewTask);
        }
        self.call_stacks.insert(self.on.stack, last);
        self.on.stack = stack;
        if role == Role::NewTask || self.on.current.is_empty() {
            self.on.current.begin(process);
        }
    }

    /// Notes what a function announces when it begins.
    fn note_role(&mut self, block: &Block) {
        let announced = &mut self.on.current.announced;
        match block.role {
            Role::Switch => self.on.current.about_to_switch(&self.frames),
            Role::Signal => announced.signals += 1,
            Role::SignalReturn => announced.signal_return = true,
            Role::Exec => announced.exec = true,
            Role::Name => announced.name = true,
            _ => {}
        }
    }

    /// The running process's name.
    fn name(&self) -> &str {
        let tree = &self.frames.tree;
        match tree.label(self.on.current.process) {
            Label::Process(number) => tree.processes.get(number as usize).map_or("", |name| name),
            _ => "",
        }
    }

    /// The function of a block.
    fn label(&self, block: &Block) -> Label {
        if let Some(part) = block.parts.first() {
            return Label::Kernel(part.function);
        }
        match block.seen.get() {
            Some((process, label)) if process == self.on.current.process => return label,
            _ => {}
        }
        let label = self.label_at(block.start);
        block.seen.set(Some((self.on.current.process, label)));
        label
    }
}

/// Whether a block begins an exception or an interrupt.
fn begins_entry(block: &Block) -> bool {
    matches!(block.role, Role::Exception | Role::Interrupt)
}

#[cfg(test)]
mod tests {
    use super::Follower;
    use crate::code::block::BlockNumber;
    use crate::code::block_counters::tests::{KERNEL, LOAD, NOP, READING, RETURN, SYMBOLS, block};
    use crate::follower::state_graph::StateWalk;
    use crate::stacks::call_tree::ROOT;
    use crate::symbols::Symbols;
    use alloc::boxed::Box;
    use alloc::string::String;
    use alloc::vec::Vec;

    fn follower(symbols: &[u8], skip: u64) -> Follower {
        let symbols = Symbols::read(symbols).expect("symbols");
        several(symbols, skip, 1)
    }

    /// One of several processors.
    fn several(symbols: Symbols, skip: u64, processors: usize) -> Follower {
        let walks = (0..processors).map(|_| StateWalk::new()).collect::<Vec<_>>();
        let follower = Follower::new(symbols, |_, _| false, skip, walks.leak());
        let [kernel, programs, accesses] = [(); 3].map(|()| &raw mut *Box::leak(Box::new(0)));
        for walk in follower.walks {
            walk.counters.point_to(kernel, programs, accesses);
        }
        follower
    }

    /// Begins a block after so many instructions of programs and of the kernel.
    fn run(follower: &mut Follower, block: BlockNumber, programs: u64, kernel: u64) {
        run_on(follower, 0, block, programs, kernel);
    }

    /// The same on one of several processors.
    fn run_on(follower: &mut Follower, on: usize, block: BlockNumber, programs: u64, kernel: u64) {
        if follower.on.number != on {
            follower.turn_to(on);
        }
        follower.walks[on].counters.add(kernel, programs);
        let (walk, begun) = (&follower.walks[on], follower.blocks.get(block));
        let goes = match (begun.is_reading, begun.is_kernel()) {
            (true, _) => false,
            (false, true) => walk.steps_in_kernel(block),
            (false, false) => walk.steps_in_program(block),
        };
        if !goes {
            follower.block(block);
        }
    }

    /// The report, but for its first line and its last.
    fn reported(follower: &Follower) -> String {
        let report = follower.report();
        let report = report.strip_prefix("profile 1\n").expect("a begin");
        String::from(report.strip_suffix("\nend\n").expect("an end"))
    }

    #[test]
    fn what_is_between_two_readings_is_a_window() {
        let mut follower = follower(SYMBOLS, 1);
        let reading = follower.blocks.add(block(0x1005, &[NOP, NOP, READING]));
        let loads = follower.blocks.add(block(0x1009, &[LOAD, NOP]));
        let kernel = follower.blocks.add(block(KERNEL, &[NOP, NOP, NOP]));
        for (block, begun) in [(reading, 0), (loads, 3), (reading, 2), (loads, 0), (reading, 2)] {
            run(&mut follower, block, begun, 0); // the first is ignored, the second begins in vain
        }
        run(&mut follower, loads, 3, 0);
        run(&mut follower, loads, 2, 0);
        run(&mut follower, kernel, 1, 0); // the load failed
        run(&mut follower, loads, 0, 3);
        run(&mut follower, reading, 2, 0);
        run(&mut follower, loads, 3, 0);
        run(&mut follower, loads, 2, 0); // outside of windows
        follower.count_idle();
        let expected = "place 0 process [unknown]\nplace 1 user [unknown]\n\
            place 2 kernel asm_exc_page_fault\nstretch 10 0 2:7 3:3";
        assert_eq!(reported(&follower), expected);
    }

    #[test]
    fn only_windows_that_are_wanted_are_followed() {
        let symbols = [SYMBOLS, b"window 1\nwindow 3\n"].concat();
        let mut follower = follower(&symbols, 1);
        let reading = follower.blocks.add(block(0x1005, &[NOP, NOP, READING]));
        let plain = follower.blocks.add(block(0x1009, &[NOP, NOP]));
        run(&mut follower, reading, 0, 0); // ignored
        for length in 1..=4 {
            run(&mut follower, reading, 3, 0);
            run(&mut follower, plain, 3, 0);
            run(&mut follower, plain, 2 * length, 0);
            run(&mut follower, reading, 2, 0);
            run(&mut follower, plain, 3, 0);
        }
        let expected = "place 0 process [unknown]\nplace 1 user [unknown]\n\
            stretch 9 0 2:9\nstretch 13 0 2:13";
        assert_eq!(reported(&follower), expected);
    }

    #[test]
    fn skipped_code_counts_for_its_own_function() {
        let mut follower = follower(SYMBOLS, 0);
        let reading = follower.blocks.add(block(0x1005, &[NOP, NOP, READING]));
        let loads = follower.blocks.add(block(0x1009, &[LOAD, NOP]));
        let fault = follower.blocks.add(block(KERNEL, &[NOP, &[0x48, 0xcf]]));
        let plain = follower.blocks.add(block(KERNEL + 0x100, &[NOP, &[0xff, 0xd0]]));
        let timer = follower.blocks.add(block(KERNEL + 0x200, &[NOP, &[0x48, 0xcf]]));
        let other = follower.blocks.add(block(KERNEL + 0x300, &[RETURN]));
        run(&mut follower, reading, 0, 0);
        run(&mut follower, loads, 3, 0);
        run(&mut follower, fault, 2 + 9, 0); // the instruction behind the nine failed, and is not counted
        run(&mut follower, fault, 19, 2); // the kernel resumes, and fails again
        run(&mut follower, plain, 0, 2); // the kernel calls, after the exception
        run(&mut follower, timer, 0, 2 + 5); // the called function is not known yet when it is interrupted
        run(&mut follower, other, 0, 2 + 30); // it resumes, and ends
        run(&mut follower, plain, 0, 1 + 40); // the caller resumes
        run(&mut follower, reading, 0, 2);
        run(&mut follower, loads, 3, 0);
        let expected = "place 0 process [unknown]\nplace 1 user [unknown]\n\
            place 1 kernel plain\nplace 3 kernel [unknown]\nplace 3 kernel other\n\
            place 2 kernel asm_exc_page_fault\nplace 4 kernel asm_sysvec_apic_timer_interrupt\n\
            stretch 119 0 2:33 3:44 4:5 5:31 6:4 7:2";
        assert_eq!(reported(&follower), expected);
    }

    #[test]
    fn of_two_functions_that_code_leads_to_the_one_that_was_skipped_is_known() {
        let mut follower = follower(SYMBOLS, 0);
        let reading = follower.blocks.add(block(0x1005, &[NOP, NOP, READING]));
        let jump: &[u8] = &[0x0f, 0x84, 0xf9, 1, 0, 0]; // je, to another function
        let leads = follower.blocks.add(block(KERNEL + 0x100, &[NOP, jump]));
        let fault = follower.blocks.add(block(KERNEL, &[NOP, &[0x48, 0xcf]]));
        follower.skipped.starts.insert(KERNEL + 0x107); // behind the block, if it does not jump
        run(&mut follower, reading, 0, 0);
        run(&mut follower, leads, 3, 0);
        run(&mut follower, fault, 0, 2 + 5); // the last of the five failed
        run(&mut follower, reading, 0, 2);
        run(&mut follower, fault, 3, 0);
        let expected = "place 0 process [unknown]\nplace 1 kernel plain\nplace 1 user [unknown]\n\
            place 2 kernel asm_exc_page_fault\nstretch 11 0 2:6 3:3 4:2";
        assert_eq!(reported(&follower), expected);
    }

    #[test]
    fn skipped_code_before_another_function_is_of_the_one_that_led_there() {
        let mut follower = follower(SYMBOLS, 0);
        let reading = follower.blocks.add(block(0x1005, &[NOP, NOP, READING]));
        let plain = follower.blocks.add(block(KERNEL + 0x100, &[NOP, NOP]));
        let other = follower.blocks.add(block(KERNEL + 0x300, &[NOP, &[0xff, 0xd0]]));
        let back = follower.blocks.add(block(0x1020, &[NOP, NOP]));
        follower.skipped.exits.insert(KERNEL + 0x300, KERNEL + 0x104);
        run(&mut follower, reading, 0, 0);
        run(&mut follower, plain, 3, 0);
        for _ in 0..3 {
            run(&mut follower, other, 0, 2 + 7); // of `plain`, which then jumps to `other`
            run(&mut follower, plain, 0, 2);
        }
        run(&mut follower, back, 0, 2);
        run(&mut follower, reading, 2, 0);
        run(&mut follower, back, 3, 0);
        let report = reported(&follower);
        let stretch = report.lines().last().expect("a window");
        let counted: u64 = stretch
            .split(' ')
            .skip(3)
            .map(|one| one.split_once(':').expect("a count").1.parse::<u64>().expect("a number"))
            .sum();
        assert_eq!(stretch.split(' ').nth(1), Some("40")); // 3 (2 + 7 + 2) + 2 + 2 + 3
        assert_eq!(counted, 40);
        let plain_place = report.lines().position(|line| line.ends_with(" kernel plain"));
        let place = plain_place.expect("a place") + 1;
        assert!(stretch.contains(&alloc::format!(" {place}:9 ")), "{report}"); // 2 + 7, once
    }

    #[test]
    fn a_window_has_what_all_processors_execute_meanwhile() {
        let mut follower = several(Symbols::read(SYMBOLS).expect("symbols"), 0, 3);
        let reading = follower.blocks.add(block(0x1005, &[NOP, NOP, READING]));
        let plain = follower.blocks.add(block(0x1009, &[NOP, NOP]));
        let kernel = follower.blocks.add(block(KERNEL + 0x100, &[NOP, NOP, NOP]));
        run_on(&mut follower, 1, plain, 0, 0); // outside of windows
        follower.walks[1].counters.add(0, 2);
        run_on(&mut follower, 0, reading, 0, 0);
        run_on(&mut follower, 0, plain, 3, 0);
        follower.walks[0].counters.add(0, 2); // its turn ends after the block
        run_on(&mut follower, 1, kernel, 0, 0);
        follower.walks[1].counters.add(3, 0);
        run_on(&mut follower, 0, plain, 0, 0);
        follower.walks[0].counters.add(0, 2);
        run_on(&mut follower, 1, plain, 0, 0);
        run_on(&mut follower, 1, reading, 2, 0); // another processor than the one where it began
        run_on(&mut follower, 1, plain, 3, 0);
        follower.walks[1].counters.add(0, 2);
        run_on(&mut follower, 0, plain, 0, 0);
        let expected = "place 0 process [unknown]\nplace 1 user [unknown]\nplace 1 kernel plain\n\
            stretch 12 0\nprocessor 0 2:4\nprocessor 1 2:5 3:3\nprocessor 2";
        assert_eq!(reported(&follower), expected);
    }

    #[test]
    fn a_turn_may_end_right_after_the_clock_was_read() {
        let mut follower = several(Symbols::read(SYMBOLS).expect("symbols"), 0, 2);
        let reading = follower.blocks.add(block(0x1005, &[NOP, NOP, READING]));
        let plain = follower.blocks.add(block(0x1009, &[NOP, NOP]));
        run_on(&mut follower, 0, reading, 0, 0);
        follower.walks[0].counters.add(0, 3); // the window begins here
        run_on(&mut follower, 1, plain, 0, 0);
        run_on(&mut follower, 1, plain, 2, 0);
        follower.walks[1].counters.add(0, 2);
        run_on(&mut follower, 0, plain, 0, 0);
        run_on(&mut follower, 0, reading, 2, 0);
        follower.walks[0].counters.add(0, 3); // and ends here
        run_on(&mut follower, 1, plain, 0, 0);
        run_on(&mut follower, 1, plain, 2, 0);
        run_on(&mut follower, 0, plain, 0, 0);
        let expected = "place 0 process [unknown]\nplace 1 user [unknown]\n\
            stretch 9 0\nprocessor 0 2:5\nprocessor 1 2:4";
        assert_eq!(reported(&follower), expected);
    }

    #[test]
    fn a_process_may_be_called_anything() {
        let mut follower = follower(b"", 0);
        let process = follower.frames.tree.process("two\nlines \u{e9}");
        follower.frames.whole_node(ROOT, process);
        let expected = "profile 1\nplace 0 process two\\nlines \u{e9}\nend\n";
        assert_eq!(follower.report(), String::from(expected));
    }
}
