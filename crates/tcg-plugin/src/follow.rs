//! Follows the guest block by block, and counts what was executed by whom.
//!
//! Programs of ours read the clock at the begin of a window and at its end. In between an instruction
//! counts for the stack of functions that it was executed under; outside of windows nothing is
//! counted, and next to no time spent.

use alloc::collections::BTreeMap;
use alloc::string::String;
use core::fmt::Write;

use crate::context::{Context, Pending};
use crate::decode::{Block, End};
use crate::guest::{Names, Read};
use crate::progress::{Executed, Gauges, executed};
use crate::schedule::Schedule;
use crate::symbols::{Role, Symbols, UNKNOWN};
use crate::tree::{Label, Node, Tree};

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
    /// While nothing is counted: how many points the block has that runs, if it reads the clock.
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
            gauges: Gauges { begun: core::ptr::null_mut(), accesses: core::ptr::null_mut() },
            total: 0,
            idle: 0,
            stretches: String::new(),
        }
    }

    /// What is known of the guest's code.
    pub fn symbols(&self) -> &Symbols {
        &self.symbols
    }

    /// A block begins.
    #[inline]
    pub fn block(&mut self, block: &'static Block) {
        let Some((previous, node)) = self.previous else {
            self.asleep(block);
            return;
        };
        if self.is_same(previous, block) {
            self.run += u64::from(previous.count);
            self.gauges.reset();
            self.previous = Some((block, node));
        } else {
            self.changed(previous, node, block);
        }
    }

    /// Whether a block was executed as a whole, and another of the same function follows.
    #[inline]
    fn is_same(&self, from: &Block, to: &Block) -> bool {
        from.goes_on
            && to.is_plain
            && self.gauges.begun() == from.whole
            && match (from.parts.first(), to.parts.first()) {
                (Some(one), Some(other)) => one.function == other.function,
                (None, None) => from.seen.get() == to.seen.get(),
                _ => false,
            }
    }

    /// A block begins that is not the plain continuation of the one before.
    fn changed(&mut self, previous: &'static Block, node: Node, block: &'static Block) {
        let executed = executed(previous, self.gauges.take(), block);
        self.total += self.run;
        self.tree.count(node, core::mem::take(&mut self.run));
        self.count(previous, node, executed);
        if previous.is_mark && executed.is_whole {
            self.schedule.iter_mut().for_each(|schedule| schedule.reads(self.total));
        }
        if previous.is_reading && executed.is_whole {
            self.end_stretch();
            self.asleep(block);
            return;
        }
        self.pass(previous, executed, block);
        self.stand(block);
    }

    /// A block begins while nothing is counted.
    fn asleep(&mut self, block: &'static Block) {
        let progress = self.gauges.take();
        let was_reading = self.reading.take().is_some_and(|whole| progress.begun == whole);
        if was_reading {
            self.readings += 1;
            if self.readings > self.skip {
                self.wake();
                self.stand(block);
                return;
            }
        }
        self.reading = block.is_reading.then_some(block.whole);
    }

    /// That block runs from here on.
    fn stand(&mut self, block: &'static Block) {
        let label = self.label(block);
        let node = self.current.stand(&mut self.tree, label);
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

    /// What makes a process run accesses memory there.
    pub fn access(&mut self, place: u64) {
        if let Some(schedule) = self.schedule.as_mut().filter(|_| self.previous.is_some()) {
            schedule.access(place);
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

    /// Counts what was executed of a block.
    fn count(&mut self, block: &Block, node: Node, executed: Executed) {
        self.total += u64::from(executed.count);
        if block.parts.len() < 2 {
            self.tree.count(node, executed.count.into());
            return;
        }
        let mut left = executed.count;
        for part in &block.parts {
            let count = part.count.min(left);
            if count == 0 {
                break;
            }
            let node = self.current.stand(&mut self.tree, Label::Kernel(part.function));
            self.tree.count(node, count.into());
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
                self.current.resume_user(to.start);
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
                self.current.resume_kernel(to.start);
            }
            (false, false) if from.end == End::Indirect => self.jump(to),
            _ => self.current.go_on(pending, to.start),
        }
    }

    /// A program jumps to an address that it has in memory.
    fn jump(&mut self, to: &Block) {
        let label = self.label(to);
        let name = self.name();
        if label != Label::User(UNKNOWN) && !self.symbols.begins(&name, to.start) {
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
    fn name(&self) -> String {
        match self.tree.label(self.current.process) {
            Label::Process(number) => {
                self.tree.processes.get(number as usize).cloned().unwrap_or_default()
            }
            _ => String::new(),
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
            Label::User(self.symbols.program(&self.name(), block.start))
        };
        block.seen.set(Some((self.current.process, label)));
        label
    }

    /// A reading of the clock ends a stretch, and counting.
    fn end_stretch(&mut self) {
        let counts = self.tree.take();
        // Writing to a string can't fail.
        let _ = write!(self.stretches, "stretch {} {}", self.total, self.idle);
        for (node, count) in counts {
            let _ = write!(self.stretches, " {node}:{count}");
        }
        self.stretches.push('\n');
        if let Some(schedule) = &mut self.schedule {
            schedule.write(self.names.as_ref(), &mut self.stretches);
        }
        self.total = 0;
        self.idle = 0;
        self.previous = None;
    }

    /// All that was seen, one thing a line: places of the tree, and what each stretch executed there.
    pub fn report(&self) -> String {
        let mut report = String::from("profile 1\n");
        for (parent, label) in self.tree.places() {
            let name =
                |number: u32| self.symbols.names.get(number as usize).map_or("", |name| name);
            let (kind, name) = match label {
                Label::Process(number) => {
                    ("process", self.tree.processes.get(number as usize).map_or("", |name| name))
                }
                Label::Kernel(number) => ("kernel", name(number)),
                Label::User(number) => ("user", name(number)),
                Label::Vdso => ("user", "[vdso]"),
            };
            let _ = writeln!(report, "place {parent} {kind} {}", name.escape_debug());
        }
        report += &self.stretches;
        report += "end\n";
        report
    }
}

/// Whether a block of the kernel begins an exception or an interrupt of another block of it.
fn is_entry(from: &Block, executed: Executed, to: &Block) -> bool {
    let leads_there = executed.is_whole && from.target == to.start;
    matches!(to.role, Role::Exception | Role::Interrupt) && !leads_there
}

#[cfg(test)]
mod tests {
    use super::Follower;
    use crate::decode::Block;
    use crate::progress::Gauges;
    use crate::progress::tests::{KERNEL, LOAD, NOP, READING, SYMBOLS, block};
    use crate::symbols::Symbols;
    use alloc::boxed::Box;
    use alloc::string::String;
    use alloc::vec::Vec;

    fn follower(symbols: &[u8], skip: u64) -> Follower {
        let symbols = Symbols::read(symbols).expect("symbols");
        let mut follower = Follower::new(symbols, |_, _| false, skip);
        let counter = || &raw mut *Box::leak(Box::new(0));
        follower.gauges = Gauges { begun: counter(), accesses: counter() };
        follower
    }

    /// Has a block begin after so many points of the one before.
    fn run(follower: &mut Follower, block: &'static Block, begun: u64) {
        // SAFETY: the test's own counter.
        unsafe { *follower.gauges.begun = begun };
        follower.block(block);
    }

    #[test]
    fn what_is_between_two_readings_is_a_stretch() {
        let mut follower = follower(SYMBOLS, 1);
        let reading = block(0x1005, &[NOP, NOP, READING]);
        let loads = block(0x1009, &[LOAD, NOP]);
        let kernel = block(KERNEL, &[NOP, NOP, NOP]);
        for (block, begun) in [(reading, 0), (loads, 1), (reading, 2), (loads, 0), (reading, 2)] {
            run(&mut follower, block, begun); // the first is passed over, the second begins in vain
        }
        run(&mut follower, loads, 1);
        run(&mut follower, loads, 2);
        run(&mut follower, kernel, 1); // the load failed
        run(&mut follower, loads, 1);
        run(&mut follower, reading, 2);
        run(&mut follower, loads, 1);
        run(&mut follower, loads, 2); // outside of windows
        follower.rest();
        let report = follower.report();
        let lines: Vec<&str> = report.lines().collect();
        let expected = "profile 1\nplace 0 process [unknown]\nplace 1 user [unknown]\n\
            place 2 kernel asm_exc_page_fault\nstretch 10 0 2:7 3:3\nend";
        assert_eq!(lines.join("\n"), expected);
    }

    #[test]
    fn a_process_may_be_called_anything() {
        let mut follower = follower(b"", 0);
        follower.tree.process("two\nlines \u{e9}");
        let expected = "profile 1\nplace 0 process two\\nlines \u{e9}\nend\n";
        assert_eq!(follower.report(), String::from(expected));
    }
}
