//! Follows the guest block by block, and counts what was executed by whom.
//!
//! Programs of ours read the clock at the begin of a window and at its end. In between an instruction
//! counts for the stack of functions that it was executed under; outside of windows nothing is
//! counted, and next to no time spent.

use alloc::collections::BTreeMap;
use alloc::string::String;

use crate::context::{Context, Pending};
use crate::decode::{Block, End, Leads};
use crate::guest::{Names, Read};
use crate::noteworthy::Heard;
use crate::progress::{Executed, Gauges, Progress, executed};
use crate::schedule::Schedule;
use crate::symbols::{Role, Symbols};
use crate::tree::{Label, Node, ROOT, Tree};

mod reporting;
mod unheard;

/// How large a process's stack in the kernel is, and a multiple of what it begins at.
const STACK: u64 = 16 << 10;
const NAMELESS: &str = "[unknown]";

/// Follows a guest.
pub struct Follower {
    symbols: Symbols,
    read: Read,
    names: Option<Names>,
    tree: Tree,
    contexts: BTreeMap<u64, Context>,
    current: Context,
    /// Where the stack in the kernel is of the process that runs; 0: not known yet.
    stack: u64,
    /// Where that of the next one is, between the moment when its stack is taken and that when it
    /// goes on.
    next_stack: Option<u64>,
    /// The block that runs, and its place in the tree; `None` while nothing is counted.
    previous: Option<(&'static Block, Node)>,
    /// How many instructions were executed before it since that place was taken.
    run: u64,
    /// While nothing is counted: how many instructions the block has that runs, if it reads the
    /// clock.
    reading: Option<u64>,
    /// How many readings there were outside of windows, and how many are to be passed over.
    readings: u64,
    skip: u64,
    /// Where it is counted how far a block comes.
    pub gauges: Gauges,
    total: u64,
    idle: u64,
    stretches: String,
    /// Who ran when; `None` where nobody wants to know.
    schedule: Option<Schedule>,
}

impl Follower {
    /// One that passes over so many readings of the clock. `read` reads the guest's memory.
    pub fn new(symbols: Symbols, read: Read, skip: u64) -> Self {
        let schedule = (!symbols.wanted.is_empty()).then(Schedule::default);
        Self {
            symbols,
            read,
            schedule,
            names: None,
            tree: Tree::new(),
            contexts: BTreeMap::new(),
            current: Context::default(),
            stack: 0,
            next_stack: None,
            previous: None,
            run: 0,
            reading: None,
            readings: 0,
            skip,
            gauges: Gauges::new(),
            total: 0,
            idle: 0,
            stretches: String::new(),
        }
    }

    /// What is known of the guest's code.
    pub fn symbols(&self) -> &Symbols {
        &self.symbols
    }

    /// A block begins that is heard of.
    #[inline]
    pub fn block(&mut self, block: &'static Block) {
        let progress = self.gauges.take();
        let Some((previous, node)) = self.previous else {
            self.asleep(progress, block);
            return;
        };
        let begun = progress.begun();
        let count = u64::from(previous.count);
        if block.is_plain && begun >= count && !previous.crosses(block) {
            let is_next = begun == count;
            let above = self.current.above();
            match previous.leads {
                Leads::On if block.known.get() == (above, node) => {
                    // Of the same function, which leads here alone or by blocks in between.
                    self.run += begun;
                    self.previous = Some((block, node));
                    return;
                }
                Leads::Call if is_next && block.known.get().0 == node => {
                    self.current.call(previous.next);
                    self.move_on(node, begun, block);
                    return;
                }
                Leads::Return
                    if is_next && self.current.caller(block.start) == Some(block.known.get().0) =>
                {
                    self.current.leave();
                    self.move_on(node, begun, block);
                    return;
                }
                _ => {}
            }
        }
        self.changed(previous, node, progress, block);
    }

    /// A function was called, or left, for one whose place in the tree is known.
    #[inline]
    fn move_on(&mut self, node: Node, begun: u64, block: &'static Block) {
        let run = core::mem::take(&mut self.run) + begun;
        self.add(node, run);
        let (_, place) = block.known.get();
        self.current.stand_at(place);
        self.previous = Some((block, place));
    }

    /// A block begins that is not the plain continuation of the one before, nor called or returned to.
    #[inline(never)]
    fn changed(
        &mut self,
        previous: &'static Block,
        node: Node,
        progress: Progress,
        block: &'static Block,
    ) {
        let run = core::mem::take(&mut self.run);
        self.add(node, run);
        let unheard = progress.begun().saturating_sub(previous.count.into());
        let executed = if unheard > 0 {
            Executed { count: previous.count, is_whole: true }
        } else {
            executed(previous, progress, block)
        };
        self.count(previous, node, executed);
        if previous.is_mark && executed.is_whole {
            self.schedule.iter_mut().for_each(|schedule| schedule.reads(self.total));
        }
        if previous.is_reading && executed.is_whole {
            self.end_stretch();
            self.asleep(Progress::default(), block);
            return;
        }
        if unheard > 0 {
            let before = if previous.is_kernel() { previous.count.into() } else { 0 };
            let in_kernel = progress.kernel > before;
            self.pass_unheard(previous, in_kernel, block);
            self.count_unheard(unheard, in_kernel, block);
        } else {
            self.pass(previous, executed, block);
        }
        self.stand(block);
    }

    /// A block begins while nothing is counted.
    #[inline(never)]
    fn asleep(&mut self, progress: Progress, block: &'static Block) {
        if let Some(count) = self.reading.take() {
            let begun = progress.begun();
            if begun >= count {
                self.readings += 1;
                if self.readings > self.skip {
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
    }

    /// That block runs from here on.
    fn stand(&mut self, block: &'static Block) {
        let above = self.current.above();
        let (known_above, known) = block.known.get();
        let node = if known_above == above && known != ROOT {
            self.current.stand_at(known);
            known
        } else {
            let label = self.label(block);
            let node = self.current.stand(&mut self.tree, label);
            block.known.set((above, node));
            node
        };
        self.heed(block);
        if let Some(schedule) = &mut self.schedule {
            schedule.begins(&self.symbols.wanted, block.start, self.total, node);
        }
        self.previous = Some((block, node));
    }

    /// The processor has nothing to do.
    pub fn rest(&mut self) {
        self.idle += u64::from(self.previous.is_some());
    }

    /// The process that runs puts something on its stack, before it is exchanged for another.
    pub fn push(&mut self, place: u64) {
        self.stack = place & !(STACK - 1);
    }

    /// The process that runs next takes something from its stack.
    pub fn pop(&mut self, place: u64) {
        if self.previous.is_some() {
            self.next_stack = Some(place & !(STACK - 1));
        }
    }

    /// A function whose accesses are heard of reads memory there, or writes to it.
    pub fn access(&mut self, heard: Heard, place: u64, writes: bool) {
        if let Some(schedule) = self.schedule.as_mut().filter(|_| self.previous.is_some()) {
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
        self.tree.process(name.as_deref().unwrap_or(NAMELESS))
    }

    /// Adds so many instructions, at that place of the tree.
    #[inline]
    fn add(&mut self, node: Node, instructions: u64) {
        self.total += instructions;
        self.tree.count(node, instructions);
    }

    /// Counts what was executed of a block.
    fn count(&mut self, block: &Block, node: Node, executed: Executed) {
        if block.parts.len() < 2 {
            self.add(node, executed.count.into());
            return;
        }
        let mut left = executed.count;
        for part in &block.parts {
            let count = part.count.min(left);
            if count == 0 {
                break;
            }
            let node = self.current.stand(&mut self.tree, Label::Kernel(part.function));
            self.add(node, count.into());
            left -= count;
        }
    }

    /// Goes from a block to the one that comes after it.
    fn pass(&mut self, from: &Block, executed: Executed, to: &Block) {
        let pending = Pending { end: from.end, next: from.next };
        let had_ended = Some(pending).filter(|_| executed.is_whole && from.end != End::Trap);
        if matches!(to.role, Role::Switched | Role::NewTask) && self.next_stack.is_some() {
            self.exchange(to.role);
            return;
        }
        match (from.is_kernel(), to.is_kernel()) {
            (false, true) => self.current.enter(had_ended),
            (true, false) => {
                let named = self.current.announced.name;
                self.current.resume_user(Some(to.start));
                self.rename(named);
                if let Some(schedule) = &mut self.schedule {
                    schedule.leaves_kernel(self.total);
                }
            }
            (true, true) if is_entry(from, executed, to) => {
                if matches!(from.end, End::InterruptReturn | End::UserReturn) {
                    let named = self.current.announced.name;
                    self.current.enter_again();
                    self.rename(named);
                } else {
                    self.current.enter(had_ended);
                }
            }
            _ if !executed.is_whole => {}
            (true, true) if from.end == End::InterruptReturn && to.start != from.next => {
                self.current.resume_kernel(Some(to.start));
            }
            (false, false) if from.end == End::Indirect => self.jump(to),
            _ => self.current.go_on(pending, Some(to.start)),
        }
    }

    /// A program jumps to an address that it has in memory.
    fn jump(&mut self, to: &Block) {
        let label = self.label(to);
        if self.is_function(label) && !self.symbols.begins(self.name(), to.start) {
            self.current.jump(&self.tree, label);
        }
    }

    /// The process may have another name.
    fn rename(&mut self, is_named: bool) {
        if is_named {
            let process = self.process();
            self.current.rename(&mut self.tree, process);
        }
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
            schedule.switched(self.total, next, last.node(), role == Role::NewTask);
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
            Role::Switch => self.current.about_to_switch(),
            Role::Signal => announced.signals += 1,
            Role::SignalReturn => announced.signal_return = true,
            Role::Exec => announced.exec = true,
            Role::Name => announced.name = true,
            _ => {}
        }
    }

    /// The name of the process that runs.
    fn name(&self) -> &str {
        match self.tree.label(self.current.process) {
            Label::Process(number) => {
                self.tree.processes.get(number as usize).map_or("", |name| name)
            }
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
        let label = if self.symbols.is_vdso(block.start) {
            Label::Vdso
        } else {
            Label::User(self.symbols.program(self.name(), block.start))
        };
        block.seen.set(Some((self.current.process, label)));
        label
    }
}

/// Whether a block begins an exception or an interrupt of whatever comes before it.
fn begins_entry(block: &Block) -> bool {
    matches!(block.role, Role::Exception | Role::Interrupt)
}

/// Whether a block of the kernel begins an exception or an interrupt of another block of it.
fn is_entry(from: &Block, executed: Executed, to: &Block) -> bool {
    let leads_there = executed.is_whole && from.target == to.start;
    begins_entry(to) && !leads_there
}

#[cfg(test)]
mod tests {
    use super::Follower;
    use crate::decode::Block;
    use crate::progress::tests::{KERNEL, LOAD, NOP, READING, RETURN, SYMBOLS, block};
    use crate::symbols::Symbols;
    use alloc::boxed::Box;
    use alloc::string::String;

    fn follower(symbols: &[u8], skip: u64) -> Follower {
        let symbols = Symbols::read(symbols).expect("symbols");
        let mut follower = Follower::new(symbols, |_, _| false, skip);
        let counter = || &raw mut *Box::leak(Box::new(0));
        follower.gauges.point_to(counter(), counter(), counter());
        follower
    }

    /// Has a block begin after so many instructions, of the kernel if there are any of it.
    fn run(follower: &mut Follower, block: &'static Block, programs: u64, kernel: u64) {
        follower.gauges.add(kernel, programs);
        follower.block(block);
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
        let reading = block(0x1005, &[NOP, NOP, READING]);
        let loads = block(0x1009, &[LOAD, NOP]);
        let kernel = block(KERNEL, &[NOP, NOP, NOP]);
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
    fn what_ran_unheard_counts_for_the_function_that_it_is_of() {
        let mut follower = follower(SYMBOLS, 0);
        let reading = block(0x1005, &[NOP, NOP, READING]);
        let loads = block(0x1009, &[LOAD, NOP]);
        let fault = block(KERNEL, &[NOP, &[0x48, 0xcf]]);
        let plain = block(KERNEL + 0x100, &[NOP, &[0xff, 0xd0]]);
        let timer = block(KERNEL + 0x200, &[NOP, &[0x48, 0xcf]]);
        let other = block(KERNEL + 0x300, &[RETURN]);
        run(&mut follower, reading, 0, 0);
        run(&mut follower, loads, 3, 0);
        run(&mut follower, fault, 2 + 10, 0); // the last of the ten failed
        run(&mut follower, fault, 20, 2); // what the kernel goes on with, and fails again
        run(&mut follower, plain, 0, 2); // the kernel calls, after the exception
        run(&mut follower, timer, 0, 2 + 5); // what it calls is not known yet when it is interrupted
        run(&mut follower, other, 0, 2 + 30); // it goes on, and ends
        run(&mut follower, plain, 0, 1 + 40); // who called it goes on
        run(&mut follower, reading, 0, 2);
        run(&mut follower, loads, 3, 0);
        let expected = "place 0 process [unknown]\nplace 1 user [unknown]\n\
            place 2 kernel asm_exc_page_fault\nplace 1 kernel plain\nplace 4 kernel plain\n\
            place 5 kernel asm_sysvec_apic_timer_interrupt\nplace 4 kernel other\n\
            stretch 119 0 2:33 3:4 4:44 5:5 6:2 7:31";
        assert_eq!(reported(&follower), expected);
    }

    #[test]
    fn a_process_may_be_called_anything() {
        let mut follower = follower(b"", 0);
        follower.tree.process("two\nlines \u{e9}");
        let expected = "profile 1\nplace 0 process two\\nlines \u{e9}\nend\n";
        assert_eq!(follower.report(), String::from(expected));
    }
}
