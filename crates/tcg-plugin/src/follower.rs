//! Follows the guest block by block, and counts what was executed by whom.
//!
//! Programs of ours read the clock at the begin of a window and at its end. In between an instruction
//! counts for the stack of functions that it was executed under; outside of windows, and in those
//! that nobody wants, nothing is counted, and next to no time spent.

use alloc::collections::BTreeMap;
use alloc::string::String;

use crate::blocks::Blocks;
use crate::context::Context;
use crate::decode::{Block, BlockNumber};
use crate::frames::Frames;
use crate::guest::{Names, Read};
use crate::landings::Unheard;
use crate::noteworthy::Heard;
use crate::progress::{Between, Executed, Progress, executed};
use crate::schedule::Schedule;
use crate::states::{Number, States, Walk};
use crate::symbols::{Role, Symbols};
use crate::tree::{Label, Node};

mod leading;
mod passing;
mod reporting;
mod unheard;

/// How large a process's stack in the kernel is, and a multiple of what it begins at.
const STACK: u64 = 16 << 10;
const NAMELESS: &str = "[unknown]";

/// Follows a guest.
pub struct Follower {
    walk: &'static Walk,
    /// The blocks that are heard of.
    pub blocks: Blocks,
    /// Those that are not.
    pub unheard: Unheard,
    states: States,
    /// The state that the guest is in, or was in when this was last looked at; `None` while nothing is
    /// counted.
    at: Option<Number>,
    /// What is known of the guest's code.
    pub symbols: Symbols,
    read: Read,
    names: Option<Names>,
    frames: Frames,
    contexts: BTreeMap<u64, Context>,
    current: Context,
    /// Where the stack in the kernel is of the process that runs; 0: not known yet.
    stack: u64,
    /// Where that of the next one is, between the moment when its stack is taken and that when it
    /// goes on.
    next_stack: Option<u64>,
    /// While nothing is counted: how many instructions the block has that runs, if it reads the
    /// clock.
    reading: Option<u64>,
    /// How many readings of the clock there were, and how many are to be passed over.
    readings: u64,
    skip: u64,
    idle: u64,
    stretches: String,
    /// Who ran when; `None` where nobody wants to know.
    schedule: Option<Schedule>,
}

impl Follower {
    /// One that passes over so many readings of the clock. `read` reads the guest's memory.
    pub fn new(symbols: Symbols, read: Read, skip: u64, walk: &'static Walk) -> Self {
        let schedule = (!symbols.wanted.is_empty()).then(Schedule::default);
        Self {
            walk,
            blocks: Blocks::default(),
            unheard: Unheard::default(),
            states: States::new(walk),
            at: None,
            symbols,
            read,
            schedule,
            names: None,
            frames: Frames::new(),
            contexts: BTreeMap::new(),
            current: Context::default(),
            stack: 0,
            next_stack: None,
            reading: None,
            readings: 0,
            skip,
            idle: 0,
            stretches: String::new(),
        }
    }

    /// A block begins that is heard of.
    pub fn block(&mut self, block: BlockNumber) {
        let block = self.blocks.get(block);
        let progress = self.walk.gauges.take();
        match self.states.at().or(self.at) {
            Some(from) => self.change(from, progress, block),
            None => self.asleep(progress, block),
        }
    }

    /// A block begins after that of another state.
    fn change(&mut self, from: Number, progress: Progress, block: &'static Block) {
        let place = self.states.place(from);
        let previous = place.block;
        let begun = progress.begun();
        let unheard = begun.saturating_sub(previous.count.into());
        let others = unheard > 0 || progress.starts > u64::from(previous.starts);
        let executed = if others {
            Executed { count: previous.count, is_whole: true }
        } else {
            executed(previous, progress, block)
        };
        let floor = self.walk.floor.get();
        self.current = place.context.on_floor(&self.frames, floor);
        self.executes(executed.count.into());
        if executed.is_whole {
            self.states.visit(from);
        }
        let times = u64::from(!executed.is_whole);
        self.current.run(&mut self.frames, previous, executed.count, times);
        if previous.is_mark && executed.is_whole {
            self.schedule.iter_mut().for_each(|schedule| schedule.reads(self.walk.total.get()));
        }
        if previous.is_reading && executed.is_whole {
            self.readings += 1;
            self.end_stretch();
            self.asleep(Progress::default(), block);
            return;
        }
        let is_exchange = self.exchanges(block);
        let before = if previous.is_kernel() { previous.count } else { 0 };
        let in_kernel = progress.kernel > before.into();
        if others {
            self.pass_unheard(previous, in_kernel, block);
            self.count_unheard(unheard, in_kernel, block);
        } else {
            self.pass(previous, executed, block);
        }
        let next = self.stand(block);
        if self.states.is_full() {
            // Neither of the two is used any more.
            self.states.forget(&mut self.frames);
            let next = self.states.state(&self.frames, self.current, block);
            self.at = Some(next);
            self.states.stand(self.states.at().map(|_| next));
        } else if executed.is_whole && !is_exchange {
            self.lead(from, Between::of(others, in_kernel), next);
        }
    }

    /// So many instructions were executed.
    fn executes(&self, instructions: u64) {
        self.walk.total.set(self.walk.total.get() + instructions);
    }

    /// A block begins while nothing is counted.
    fn asleep(&mut self, progress: Progress, block: &'static Block) {
        if let Some(count) = self.reading.take() {
            let begun = progress.begun();
            if begun >= count {
                self.readings += 1;
                if self.begins_window() {
                    self.wake();
                    if begun > count {
                        self.count_unheard(begun - count, progress.kernel > 0, block);
                    }
                    self.stand(block);
                    return;
                }
            }
        }
        self.reading = block.is_reading.then_some(block.count.into());
        self.walk.sleeps.set(!block.is_reading);
    }

    /// Whether the latest reading begins a window that is wanted.
    fn begins_window(&self) -> bool {
        let Some(since) = self.readings.checked_sub(self.skip + 1) else { return false };
        since % 2 == 0 && self.symbols.is_window(since / 2)
    }

    /// That block runs from here on.
    fn stand(&mut self, block: &'static Block) -> Number {
        let label = self.label(block);
        self.current.stand(&mut self.frames, label);
        self.heed(block);
        if let Some(schedule) = &mut self.schedule {
            let node = self.current.place(&mut self.frames);
            schedule.begins(&self.symbols.wanted, block.start, self.walk.total.get(), node);
        }
        self.states.stand_on(&mut self.frames, self.current.floor());
        let state = self.states.state(&self.frames, self.current, block);
        self.at = Some(state);
        self.walk.sleeps.set(false);
        self.states.stand(self.at);
        state
    }

    /// The processor has nothing to do.
    pub fn rest(&mut self) {
        self.idle += u64::from(self.at.is_some());
    }

    /// The process that runs puts something on its stack, before it is exchanged for another.
    pub fn push(&mut self, place: u64) {
        self.stack = place & !(STACK - 1);
    }

    /// The process that runs next takes something from its stack.
    pub fn pop(&mut self, place: u64) {
        if self.at.is_some() {
            self.next_stack = Some(place & !(STACK - 1));
        }
    }

    /// A function whose accesses are heard of reads memory there, or writes to it.
    pub fn access(&mut self, heard: Heard, place: u64, writes: bool) {
        if let Some(schedule) = self.schedule.as_mut().filter(|_| self.at.is_some()) {
            schedule.access(heard, place, writes);
        }
    }

    /// Begins to count. What was called before is not known.
    fn wake(&mut self) {
        if self.names.is_none() {
            self.names = Names::find(&self.symbols, self.read);
        }
        self.contexts.clear();
        self.stack = 0;
        self.next_stack = None;
        self.current = Context::of(self.process());
        let process = self.names.as_ref().and_then(Names::process);
        if let Some(schedule) = &mut self.schedule {
            schedule.begin(process);
        }
    }

    /// The place in the tree of the process that runs.
    fn process(&mut self) -> Node {
        let name = self.names.as_ref().and_then(Names::current);
        self.frames.tree.process(name.as_deref().unwrap_or(NAMELESS))
    }

    /// Whether another process goes on where that block begins.
    fn exchanges(&self, block: &Block) -> bool {
        self.next_stack.is_some() && matches!(block.role, Role::Switched | Role::NewTask)
    }

    /// One process was exchanged for another, which goes on.
    fn exchange(&mut self, role: Role) {
        let Some(stack) = self.next_stack.take() else { return };
        let process = self.process();
        let next = self.contexts.remove(&stack).unwrap_or_default();
        let mut last = core::mem::replace(&mut self.current, next);
        last.switched_away();
        if let Some(schedule) = &mut self.schedule {
            let next = self.names.as_ref().and_then(Names::process);
            let place = last.place(&mut self.frames);
            schedule.switched(self.walk.total.get(), next, place, role == Role::NewTask);
        }
        self.contexts.insert(self.stack, last);
        self.stack = stack;
        if role == Role::NewTask || self.current.is_empty() {
            self.current.begin(process);
        }
    }

    /// Heeds what a function announces as it begins.
    fn heed(&mut self, block: &Block) {
        let announced = &mut self.current.announced;
        match block.role {
            Role::Switch => self.current.about_to_switch(&self.frames),
            Role::Signal => announced.signals += 1,
            Role::SignalReturn => announced.signal_return = true,
            Role::Exec => announced.exec = true,
            Role::Name => announced.name = true,
            _ => {}
        }
    }

    /// The name of the process that runs.
    fn name(&self) -> &str {
        let tree = &self.frames.tree;
        match tree.label(self.current.process) {
            Label::Process(number) => tree.processes.get(number as usize).map_or("", |name| name),
            _ => "",
        }
    }

    /// The function that a block is of.
    fn label(&self, block: &Block) -> Label {
        if let Some(part) = block.parts.first() {
            return Label::Kernel(part.function);
        }
        match block.seen.get() {
            Some((process, label)) if process == self.current.process => return label,
            _ => {}
        }
        let label = self.label_at(block.start);
        block.seen.set(Some((self.current.process, label)));
        label
    }
}

/// Whether a block begins an exception or an interrupt of whatever comes before it.
fn begins_entry(block: &Block) -> bool {
    matches!(block.role, Role::Exception | Role::Interrupt)
}

#[cfg(test)]
mod tests {
    use super::Follower;
    use crate::decode::BlockNumber;
    use crate::progress::tests::{KERNEL, LOAD, NOP, READING, RETURN, SYMBOLS, block};
    use crate::states::Walk;
    use crate::symbols::Symbols;
    use crate::tree::ROOT;
    use alloc::boxed::Box;
    use alloc::string::String;

    fn follower(symbols: &[u8], skip: u64) -> Follower {
        let symbols = Symbols::read(symbols).expect("symbols");
        let walk = Box::leak(Box::new(Walk::new()));
        let follower = Follower::new(symbols, |_, _| false, skip, walk);
        let counter = || &raw mut *Box::leak(Box::new(0));
        follower.walk.gauges.point_to(counter(), counter(), counter());
        follower
    }

    /// Has a block begin after so many instructions, of the kernel if there are any of it.
    fn run(follower: &mut Follower, block: BlockNumber, programs: u64, kernel: u64) {
        follower.walk.gauges.add(kernel, programs);
        let (walk, begun) = (follower.walk, follower.blocks.get(block));
        let goes = match (begun.is_reading, begun.is_kernel()) {
            (true, _) => false,
            (false, true) => walk.goes_in_kernel(block),
            (false, false) => walk.goes_in_program(block),
        };
        if !goes {
            follower.block(block);
        }
    }

    /// What is reported, but for its first line and its last.
    fn reported(follower: &Follower) -> String {
        let report = follower.report();
        let report = report.strip_prefix("profile 1\n").expect("a begin");
        String::from(report.strip_suffix("\nend\n").expect("an end"))
    }

    #[test]
    fn what_is_between_two_readings_is_a_stretch() {
        let mut follower = follower(SYMBOLS, 1);
        let reading = follower.blocks.add(block(0x1005, &[NOP, NOP, READING]));
        let loads = follower.blocks.add(block(0x1009, &[LOAD, NOP]));
        let kernel = follower.blocks.add(block(KERNEL, &[NOP, NOP, NOP]));
        for (block, begun) in [(reading, 0), (loads, 3), (reading, 2), (loads, 0), (reading, 2)] {
            run(&mut follower, block, begun, 0); // the first is passed over, the second begins in vain
        }
        run(&mut follower, loads, 3, 0);
        run(&mut follower, loads, 2, 0);
        run(&mut follower, kernel, 1, 0); // the load failed
        run(&mut follower, loads, 0, 3);
        run(&mut follower, reading, 2, 0);
        run(&mut follower, loads, 3, 0);
        run(&mut follower, loads, 2, 0); // outside of windows
        follower.rest();
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
        run(&mut follower, reading, 0, 0); // passed over
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
    fn what_ran_unheard_counts_for_the_function_that_it_is_of() {
        let mut follower = follower(SYMBOLS, 0);
        let reading = follower.blocks.add(block(0x1005, &[NOP, NOP, READING]));
        let loads = follower.blocks.add(block(0x1009, &[LOAD, NOP]));
        let fault = follower.blocks.add(block(KERNEL, &[NOP, &[0x48, 0xcf]]));
        let plain = follower.blocks.add(block(KERNEL + 0x100, &[NOP, &[0xff, 0xd0]]));
        let timer = follower.blocks.add(block(KERNEL + 0x200, &[NOP, &[0x48, 0xcf]]));
        let other = follower.blocks.add(block(KERNEL + 0x300, &[RETURN]));
        run(&mut follower, reading, 0, 0);
        run(&mut follower, loads, 3, 0);
        run(&mut follower, fault, 2 + 9, 0); // what came behind the nine failed, and is not counted
        run(&mut follower, fault, 19, 2); // what the kernel goes on with, and fails again
        run(&mut follower, plain, 0, 2); // the kernel calls, after the exception
        run(&mut follower, timer, 0, 2 + 5); // what it calls is not known yet when it is interrupted
        run(&mut follower, other, 0, 2 + 30); // it goes on, and ends
        run(&mut follower, plain, 0, 1 + 40); // who called it goes on
        run(&mut follower, reading, 0, 2);
        run(&mut follower, loads, 3, 0);
        let expected = "place 0 process [unknown]\nplace 1 user [unknown]\n\
            place 1 kernel plain\nplace 3 kernel [unknown]\nplace 3 kernel other\n\
            place 2 kernel asm_exc_page_fault\nplace 4 kernel asm_sysvec_apic_timer_interrupt\n\
            stretch 119 0 2:33 3:44 4:5 5:31 6:4 7:2";
        assert_eq!(reported(&follower), expected);
    }

    #[test]
    fn of_two_functions_that_code_leads_to_the_one_that_ran_unheard_is_known() {
        let mut follower = follower(SYMBOLS, 0);
        let reading = follower.blocks.add(block(0x1005, &[NOP, NOP, READING]));
        let jump: &[u8] = &[0x0f, 0x84, 0xf9, 1, 0, 0]; // je, to another function
        let leads = follower.blocks.add(block(KERNEL + 0x100, &[NOP, jump]));
        let fault = follower.blocks.add(block(KERNEL, &[NOP, &[0x48, 0xcf]]));
        follower.unheard.starts.insert(KERNEL + 0x107); // what comes behind, where it does not jump
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
    fn what_ran_unheard_before_another_function_is_of_the_one_that_led_there() {
        let mut follower = follower(SYMBOLS, 0);
        let reading = follower.blocks.add(block(0x1005, &[NOP, NOP, READING]));
        let plain = follower.blocks.add(block(KERNEL + 0x100, &[NOP, NOP]));
        let other = follower.blocks.add(block(KERNEL + 0x300, &[NOP, &[0xff, 0xd0]]));
        let back = follower.blocks.add(block(0x1020, &[NOP, NOP]));
        follower.unheard.exits.insert(KERNEL + 0x300, KERNEL + 0x104);
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
        let stretch = report.lines().last().expect("a stretch");
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
    fn a_process_may_be_called_anything() {
        let mut follower = follower(b"", 0);
        let process = follower.frames.tree.process("two\nlines \u{e9}");
        follower.frames.place(ROOT, process);
        let expected = "profile 1\nplace 0 process two\\nlines \u{e9}\nend\n";
        assert_eq!(follower.report(), String::from(expected));
    }
}
