//! Follows the guest block by block, and counts what was executed by whom.
//!
//! It sleeps until a program of ours reads the clock for the first time; from then on each reading
//! ends one stretch and begins the next. In a stretch an instruction counts for the stack of
//! functions that it was executed under.
//!
//! QEMU tells when a block begins, not how far it came: a page fault, or a device that is read in the
//! midst of a block, ends it early. So each instruction that may fail is counted as it is begun, and
//! so is a block's last. What was begun in a block, and what comes after it, says how many
//! instructions QEMU has counted.

use alloc::collections::BTreeMap;
use alloc::string::String;
use core::fmt::Write;

use crate::context::{Context, Pending};
use crate::decode::{Block, End};
use crate::guest::{Names, Read};
use crate::symbols::{Role, Symbols, UNKNOWN};
use crate::tree::{Label, Node, Tree};

/// How large a process's stack in the kernel is, and a multiple of what it begins at.
const STACK: u64 = 16 << 10;
const NAMELESS: &str = "[unknown]";

/// What was counted while a block ran.
#[derive(Clone, Copy)]
pub struct Progress {
    /// How many of its points were begun.
    pub begun: u64,
    /// How many accesses to memory its last instruction made; of programs' blocks alone.
    pub accesses: u64,
}

/// How much of a block was executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Executed {
    count: u16,
    is_whole: bool,
}

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
    /// The block that runs, and its place in the tree; `None` while it sleeps.
    previous: Option<(&'static Block, Node)>,
    /// Whether the block before was one that reads the clock, while it sleeps.
    wakes: bool,
    begin: u64,
    total: u64,
    idle: u64,
    stretches: String,
}

impl Follower {
    /// One that sleeps. `read` reads the guest's memory.
    pub fn new(symbols: Symbols, read: Read) -> Self {
        Self {
            symbols,
            read,
            names: None,
            tree: Tree::new(),
            contexts: BTreeMap::new(),
            current: Context::default(),
            stack: 0,
            next_stack: None,
            previous: None,
            wakes: false,
            begin: 0,
            total: 0,
            idle: 0,
            stretches: String::new(),
        }
    }

    /// What is known of the guest's code.
    pub fn symbols(&self) -> &Symbols {
        &self.symbols
    }

    /// A block begins. `progress` takes what was counted since the one before.
    pub fn block(&mut self, block: &'static Block, progress: impl FnOnce() -> Progress) {
        if let Some((previous, node)) = self.previous {
            let executed = executed(previous, progress(), block);
            self.count(previous, node, executed);
            if previous.is_reading && executed.is_whole {
                self.end_stretch(previous);
            }
            self.pass(previous, executed, block);
        } else if self.wakes {
            progress();
            self.wake();
        } else {
            self.wakes = block.is_reading;
            if self.wakes {
                self.begin = block.start;
            }
            return;
        }
        let label = self.label(block);
        let node = self.current.stand(&mut self.tree, label);
        self.heed(block);
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

    /// Begins to count.
    fn wake(&mut self) {
        self.names = Names::find(&self.symbols, self.read);
        self.current = Context::of(self.process());
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
        match (from.is_kernel, to.is_kernel) {
            (false, true) => self.current.enter(had_ended),
            (true, false) => {
                let named = self.current.announced.name;
                self.current.resume_user(to.start);
                self.rename(named);
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

    /// A reading of the clock ends a stretch, and begins the next.
    fn end_stretch(&mut self, block: &Block) {
        let counts = self.tree.take();
        // Writing to a string can't fail.
        let _ = write!(self.stretches, "stretch {:x} {} {}", self.begin, self.total, self.idle);
        for (node, count) in counts {
            let _ = write!(self.stretches, " {node}:{count}");
        }
        self.stretches.push('\n');
        self.begin = block.start;
        self.total = 0;
        self.idle = 0;
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

/// How much was executed of a block, by what was begun in it and the block that came next.
fn executed(block: &Block, progress: Progress, next: &Block) -> Executed {
    let points = &block.points;
    let part = |count| Executed { count, is_whole: false };
    let Some(last) = usize::try_from(progress.begun).ok().and_then(|begun| begun.checked_sub(1))
    else {
        return part(0);
    };
    if last + 1 < points.len() {
        // It failed, or QEMU carried it out in a block of its own, of which nobody hears.
        let point = points[last];
        return part(if next.start == point.next { point.before + 1 } else { point.before });
    }
    // What QEMU fetches next may fail, too: a program's last instruction is then carried out, and
    // has accessed what it accesses. The kernel's own code is always there.
    let is_carried_out = !block.is_kernel
        && block.last_accesses > 0
        && progress.accesses >= u64::from(block.last_accesses);
    let may_fail = block.last_may_fail && block.end != End::InterruptReturn;
    if next.role == Role::Exception && may_fail && !is_carried_out {
        return part(block.count - 1);
    }
    Executed { count: block.count, is_whole: true }
}

#[cfg(test)]
mod tests {
    use super::{Executed, Follower, Progress, executed};
    use crate::decode::{Block, Decoding};
    use crate::symbols::Symbols;
    use alloc::boxed::Box;
    use alloc::string::String;
    use alloc::vec::Vec;

    const KERNEL: u64 = 0xffff_ffff_8100_0000;
    const SYMBOLS: &[u8] = b"reading 1007\n\
        kernel ffffffff81000000 asm_exc_page_fault\n\
        kernel ffffffff81000100 plain\n\
        kernel ffffffff81000200 asm_sysvec_apic_timer_interrupt\n";

    fn block(place: u64, code: &[&[u8]]) -> &'static Block {
        let symbols = Symbols::read(SYMBOLS).expect("symbols");
        let mut decoding = Decoding::new();
        let mut at = place;
        let mut decoded = Vec::new();
        for bytes in code {
            decoded.extend(decoding.decode(at, bytes));
            at += bytes.len() as u64;
        }
        Box::leak(Box::new(Block::of(&decoded, &symbols).expect("a block")))
    }

    fn counts(block: &Block, begun: u64, accesses: u64, next: &Block) -> (u16, bool) {
        let Executed { count, is_whole } = executed(block, Progress { begun, accesses }, next);
        (count, is_whole)
    }

    const NOP: &[u8] = &[0x90];
    const LOAD: &[u8] = &[0x8b, 0x07];
    const RETURN: &[u8] = &[0xc3];
    const READING: &[u8] = &[0x0f, 0x31];

    #[test]
    fn how_far_a_block_came_is_known_to_the_instruction() {
        let fault = block(KERNEL, &[NOP]);
        let user = block(0x2000, &[NOP, LOAD, NOP, NOP, RETURN]);
        let after = block(0x2003, &[NOP]);
        assert_eq!(counts(user, 2, 1, fault), (5, true)); // what comes next could not be fetched
        assert_eq!(counts(user, 2, 0, fault), (4, false)); // the return failed
        assert_eq!(counts(user, 2, 0, after), (5, true));
        assert_eq!(counts(user, 1, 0, fault), (1, false)); // the load failed
        assert_eq!(counts(user, 1, 0, after), (2, false)); // QEMU carried it out by itself
        let kernel = block(KERNEL + 0x100, &[NOP, LOAD]);
        assert_eq!(counts(kernel, 1, 0, fault), (1, false));
        assert_eq!(counts(kernel, 1, 0, after), (2, true));
        let returns = block(KERNEL + 0x100, &[&[0x48, 0xcf]]);
        assert_eq!(counts(returns, 1, 0, fault), (1, true));
        let divides = block(0x2000, &[NOP, &[0xf7, 0xf1]]);
        assert_eq!(counts(divides, 1, 0, fault), (1, false));
    }

    #[test]
    fn what_is_between_two_readings_is_a_stretch() {
        let symbols = Symbols::read(SYMBOLS).expect("symbols");
        let mut follower = Follower::new(symbols, |_, _| false);
        let mut run = |block: &'static Block, begun| {
            follower.block(block, || Progress { begun, accesses: 0 });
        };
        let reading = block(0x1005, &[NOP, NOP, READING]);
        let loads = block(0x1009, &[LOAD, NOP]);
        let kernel = block(KERNEL, &[NOP, NOP, NOP]);
        run(loads, 0);
        run(reading, 2);
        run(loads, 1);
        run(kernel, 1); // the load failed
        run(loads, 1);
        run(reading, 2);
        run(loads, 1);
        follower.rest();
        let report = follower.report();
        let lines: Vec<&str> = report.lines().collect();
        let expected = "profile 1\nplace 0 process [unknown]\nplace 1 user [unknown]\n\
            place 2 kernel asm_exc_page_fault\nstretch 1005 8 0 2:5 3:3\nend";
        assert_eq!(lines.join("\n"), expected);
    }

    #[test]
    fn a_process_may_be_called_anything() {
        let symbols = Symbols::read(b"").expect("symbols");
        let mut follower = Follower::new(symbols, |_, _| false);
        follower.tree.process("two\nlines \u{e9}");
        assert_eq!(
            follower.report(),
            String::from("profile 1\nplace 0 process two\\nlines \u{e9}\nend\n")
        );
    }
}
