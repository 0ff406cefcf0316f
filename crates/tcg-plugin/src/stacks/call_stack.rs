//! The call stack of one process: the functions that were called and have not returned, as far as
//! known.

use crate::code::block::Block;
use crate::code::decoder::End;
use crate::stacks::call_tree::{Label, Node, ROOT};
use crate::stacks::frames::{
    Frames, Interrupted, KernelEntry, Kind, NO_ENTRY, NONE, Pending, StackId,
};

/// What the kernel has announced since it was entered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Announced {
    /// So many handlers of signals are to run.
    pub signals: u32,
    /// A handler has returned.
    pub signal_return: bool,
    /// The program has become another.
    pub exec: bool,
    /// The process has another name.
    pub name: bool,
}

/// A process's stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CallStack {
    /// The process, in the tree.
    pub process: Node,
    kernel_entry: KernelEntry,
    /// The stack since that entry.
    top: StackId,
    /// What the kernel has announced.
    pub announced: Announced,
    /// The stack without its topmost frame, from just before the switch to another process.
    before_switch: StackId,
}

/// Stands for any entry, in what is the same for all of them.
const ANY_ENTRY: KernelEntry = 1;

impl CallStack {
    /// The stack of a process of which nothing is known yet.
    pub fn of(process: Node) -> Self {
        Self { process, ..Self::default() }
    }

    /// Whether nothing is known of it.
    pub fn is_empty(&self) -> bool {
        self.top == NONE && self.kernel_entry == NO_ENTRY
    }

    /// The entry into the kernel, if the kernel runs and the entry is known.
    pub fn kernel_entry(&self) -> Option<KernelEntry> {
        (self.kernel_entry != NO_ENTRY).then_some(self.kernel_entry)
    }

    /// The stack with its entry replaced by [`ANY_ENTRY`], so that stacks of all entries compare
    /// equal.
    pub fn with_any_entry(self) -> Self {
        let process = if self.kernel_entry == NO_ENTRY { self.process } else { ROOT };
        Self { process, kernel_entry: self.kernel_entry.min(ANY_ENTRY), ..self }
    }

    /// The inverse: the stack with [`ANY_ENTRY`] replaced by an entry.
    pub fn with_entry(self, frames: &Frames, kernel_entry: KernelEntry) -> Self {
        if self.kernel_entry == NO_ENTRY {
            return self;
        }
        Self { process: frames.interrupted(kernel_entry).process, kernel_entry, ..self }
    }

    /// The node of the topmost function's caller.
    fn above(&self, frames: &Frames) -> Node {
        self.node_of(frames, frames.below(self.top))
    }

    /// The topmost function's node, below the process or the entry into the kernel.
    pub fn node(&self, frames: &Frames) -> Node {
        self.node_of(frames, self.top)
    }

    fn node_of(&self, frames: &Frames, stack: StackId) -> Node {
        match stack {
            NONE if self.kernel_entry == NO_ENTRY => self.process,
            NONE => ROOT,
            _ => frames.node(stack),
        }
    }

    /// The topmost function's node in the whole tree.
    pub fn whole_node(&self, frames: &mut Frames) -> Node {
        frames.whole_node(frames.base(self.kernel_entry), self.node(frames))
    }

    /// The topmost function executes so many instructions.
    pub fn count(&self, frames: &mut Frames, instructions: u64) {
        frames.count(frames.base(self.kernel_entry), self.node(frames), instructions);
    }

    /// Replaces the topmost function.
    pub fn set_function(&mut self, frames: &mut Frames, label: Label) {
        let node = self.node_beside(frames, label);
        let kind = if self.top == NONE { Kind::Call(0) } else { frames.kind(self.top) };
        self.top = frames.push(frames.below(self.top), kind, node);
    }

    /// The node that another function would have as the topmost one.
    pub fn node_beside(&self, frames: &mut Frames, label: Label) -> Node {
        frames.tree.child(self.above(frames), label)
    }

    /// The function that is topmost, if one is.
    pub fn label(&self, frames: &Frames) -> Option<Label> {
        (self.top != NONE).then(|| frames.label(self.top))
    }

    /// Corrects a return once the function that came after it is known: to the latest caller that
    /// is this function. Without such a caller the latest one stays.
    pub fn settle_return(&mut self, frames: &Frames, label: Label) {
        let mut calls = frames.calls(self.top);
        if frames.is_of(self.top, label) {
            return;
        }
        if let Some(found) = calls.find(|&stack| frames.is_of(stack, label)) {
            self.top = found;
        }
    }

    fn push(&mut self, frames: &mut Frames, kind: Kind) {
        self.top = frames.push(self.top, kind, self.node(frames));
    }

    /// The kernel is entered. `pending` is how what is interrupted ended, if it ended.
    pub fn enter(&mut self, frames: &mut Frames, pending: Option<Pending>) {
        self.kernel_entry = self.new_entry(frames, pending);
        self.top = frames.push(NONE, Kind::Entry, ROOT);
    }

    /// The entry, if the kernel is entered now.
    fn new_entry(&self, frames: &mut Frames, pending: Option<Pending>) -> KernelEntry {
        let Self { process, kernel_entry, top: stack, .. } = *self;
        frames.enter(Interrupted { process, kernel_entry, stack, pending }, self.node(frames))
    }

    /// A block ended as `pending` says, and the code at `start`, if known, comes after it.
    pub fn go_on(&mut self, frames: &mut Frames, pending: Pending, start: Option<u64>) {
        match pending.end {
            End::Call => self.push(frames, Kind::Call(pending.next)),
            End::Return => self.leave_function(frames, start),
            _ => {}
        }
    }

    /// A function returns to `address`: to the latest caller that waits there, else to its own
    /// caller.
    ///
    /// Code that jumps by a return (a return trampoline) finds no caller at the address. Callers
    /// that were left by a jump are dropped when one below them is found.
    fn leave_function(&mut self, frames: &Frames, address: Option<u64>) {
        let waits =
            |&stack: &StackId| address.is_some_and(|at| frames.kind(stack) == Kind::Call(at));
        let found = frames.calls(self.top).find(waits);
        if let Some(left) = found.or_else(|| frames.calls(self.top).next()) {
            self.top = frames.below(left);
        }
    }

    /// A program jumps into the middle of a function, to an address that it read from memory. If
    /// that function waits below, this is a `longjmp` to it.
    pub fn jump(&mut self, frames: &Frames, label: Label) {
        if frames.tree.label(self.node(frames)) == label {
            return;
        }
        if let Some(found) = frames.all(self.top).find(|&stack| frames.is_of(stack, label)) {
            self.top = found;
        }
    }

    /// The kernel returns to what it interrupted, or to its caller, and is entered again before any
    /// block of that ran.
    pub fn enter_again(&mut self, frames: &mut Frames) {
        let pending = if self.kernel_entry != NO_ENTRY && frames.is_from_program(self.kernel_entry)
        {
            self.leave_kernel(frames)
        } else {
            self.leave_entry(frames)
        };
        self.enter(frames, pending);
    }

    /// The kernel returns, at `start`, to kernel code that it had interrupted.
    pub fn resume_kernel(&mut self, frames: &mut Frames, start: Option<u64>) {
        if let Some(pending) = self.leave_entry(frames) {
            self.go_on(frames, pending, start);
        }
    }

    /// Drops the frames since the last entry into the kernel. Returns how the interrupted block had
    /// ended, if it had.
    fn leave_entry(&mut self, frames: &Frames) -> Option<Pending> {
        let Interrupted { kernel_entry, stack, pending, .. } =
            frames.interrupted(self.kernel_entry);
        (self.kernel_entry, self.top) = (kernel_entry, stack);
        pending
    }

    /// The program resumes at `start`: where it was interrupted, in a signal's handler, or as a new
    /// program.
    pub fn resume_user(&mut self, frames: &mut Frames, start: Option<u64>) {
        if let Some(pending) = self.leave_kernel(frames) {
            self.go_on(frames, pending, start);
        }
    }

    /// Drops all frames of the kernel. Returns how the interrupted block had ended, if it resumes.
    fn leave_kernel(&mut self, frames: &mut Frames) -> Option<Pending> {
        let Announced { signals, signal_return, exec, .. } = core::mem::take(&mut self.announced);
        if self.kernel_entry == NO_ENTRY || exec {
            (self.kernel_entry, self.top) = (NO_ENTRY, NONE);
            return None;
        }
        let mut pending = None;
        while self.kernel_entry != NO_ENTRY {
            pending = self.leave_entry(frames);
        }
        if signals > 0 {
            for _ in 0..signals {
                self.push(frames, Kind::Signal(pending));
            }
            return None;
        }
        let is_handler = |&stack: &StackId| matches!(frames.kind(stack), Kind::Signal(_));
        match frames.all(self.top).find(is_handler).filter(|_| signal_return) {
            Some(handler) => {
                self.top = frames.below(handler);
                frames.pending(handler)
            }
            None => pending,
        }
    }

    /// The topmost function is about to switch to another process.
    pub fn about_to_switch(&mut self, frames: &Frames) {
        self.before_switch = frames.below(self.top);
    }

    /// Another process runs now. This one resumes later where the switch was called.
    pub fn switched_away(&mut self) {
        self.top = core::mem::take(&mut self.before_switch);
    }

    /// The process has another name; its functions stay.
    pub fn rename(&mut self, frames: &mut Frames, process: Node) {
        if self.kernel_entry == NO_ENTRY {
            self.top = frames.moved(self.top, process);
        } else {
            let mut interrupted = *self;
            let pending = interrupted.leave_entry(frames);
            interrupted.rename(frames, process);
            self.kernel_entry = interrupted.new_entry(frames, pending);
        }
        self.process = process;
    }

    /// The topmost function executes so many instructions of a block, so often. A block may extend
    /// into other functions, which then replace the topmost one.
    pub fn run(&mut self, frames: &mut Frames, block: &Block, instructions: u16, times: u64) {
        if block.parts.len() < 2 {
            self.count(frames, u64::from(instructions) * times);
            return;
        }
        let mut left = instructions;
        for part in &block.parts {
            let count = part.count.min(left);
            if count == 0 {
                break;
            }
            self.set_function(frames, Label::Kernel(part.function));
            self.count(frames, u64::from(count) * times);
            left -= count;
        }
    }

    /// Forgets all frames: the process starts, or is another one.
    pub fn begin(&mut self, process: Node) {
        *self = Self::of(process);
    }
}

#[cfg(test)]
mod tests {
    use super::CallStack;
    use crate::code::decoder::End;
    use crate::stacks::call_tree::Label;
    use crate::stacks::frames::{Frames, Pending};
    use alloc::string::String;
    use alloc::vec::Vec;

    /// A process whose functions are numbers; 90 and above are the kernel's.
    struct Process {
        frames: Frames,
        call_stack: CallStack,
    }

    impl Process {
        fn new() -> Self {
            let mut frames = Frames::new();
            let process = frames.tree.process("p");
            let mut new = Self { frames, call_stack: CallStack::of(process) };
            new.set_function(1);
            new
        }

        fn set_function(&mut self, function: u32) {
            let label = if function < 90 { Label::User(function) } else { Label::Kernel(function) };
            self.call_stack.set_function(&mut self.frames, label);
        }

        fn call(&mut self, returns_to: u64, function: u32) {
            self.call_stack.go_on(
                &mut self.frames,
                Pending { end: End::Call, next: returns_to },
                None,
            );
            self.set_function(function);
        }

        fn leave(&mut self, address: u64, function: u32) {
            self.call_stack.go_on(
                &mut self.frames,
                Pending { end: End::Return, next: 0 },
                Some(address),
            );
            self.set_function(function);
        }

        fn enter(&mut self, pending: Option<Pending>) {
            self.call_stack.enter(&mut self.frames, pending);
            self.set_function(90);
        }

        fn resume(&mut self, address: u64, function: u32) {
            self.call_stack.resume_user(&mut self.frames, Some(address));
            self.set_function(function);
        }

        /// The functions from the first to the topmost.
        fn stack(&mut self) -> String {
            let mut node = self.call_stack.whole_node(&mut self.frames);
            let nodes: Vec<_> = self.frames.whole.nodes().collect();
            let mut numbers = Vec::new();
            while let Some((parent, Label::User(number) | Label::Kernel(number))) =
                (node as usize).checked_sub(1).map(|index| nodes[index])
            {
                numbers.push(alloc::format!("{number}"));
                node = parent;
            }
            numbers.reverse();
            numbers.join(" ")
        }
    }

    #[test]
    fn calls_nest_and_return() {
        let mut process = Process::new();
        process.call(0x10, 2);
        process.call(0x20, 2);
        assert_eq!(process.stack(), "1 2 2");
        process.leave(0x20, 2);
        process.set_function(3); // a jump to another function: a tail call
        assert_eq!(process.stack(), "1 3");
        process.leave(0x10, 1);
        assert_eq!(process.stack(), "1");
        process.leave(0x99, 7); // to a caller whose call was not seen
        assert_eq!(process.stack(), "7");
    }

    #[test]
    fn a_return_that_is_a_jump_leads_on() {
        let mut process = Process::new();
        process.call(0x10, 4); // a trampoline, which calls within itself,
        process.call(0x40, 4); // and overwrites its own return address
        process.leave(0x500, 5);
        assert_eq!(process.stack(), "1 5");
        process.leave(0x10, 1);
        assert_eq!(process.stack(), "1");
    }

    #[test]
    fn callers_that_were_left_are_dropped() {
        let mut process = Process::new();
        for (address, function) in [(0x10, 2), (0x20, 3), (0x30, 4)] {
            process.call(address, function);
        }
        process.call_stack.jump(&process.frames, Label::User(2));
        process.set_function(2);
        assert_eq!(process.stack(), "1 2");
        process.call(0x40, 5);
        process.leave(0x10, 1); // past two that wait
        assert_eq!(process.stack(), "1");
    }

    #[test]
    fn what_is_interrupted_goes_on_as_it_had_ended() {
        let mut process = Process::new();
        process.enter(Some(Pending { end: End::Call, next: 0x10 }));
        process.call(0x900, 91);
        assert_eq!(process.stack(), "1 90 91");
        process.call_stack.enter(&mut process.frames, None);
        process.set_function(92);
        process.call_stack.resume_kernel(&mut process.frames, Some(0x901));
        process.set_function(91);
        assert_eq!(process.stack(), "1 90 91");
        process.resume(0x200, 2);
        assert_eq!(process.stack(), "1 2");
        process.leave(0x10, 1);
        assert_eq!(process.stack(), "1");
    }

    #[test]
    fn one_interrupt_may_follow_another() {
        let mut process = Process::new();
        process.enter(Some(Pending { end: End::Call, next: 0x10 }));
        process.call_stack.enter_again(&mut process.frames);
        process.set_function(93);
        assert_eq!(process.stack(), "1 93");
        process.resume(0x200, 2);
        process.enter(None);
        process.call_stack.enter(&mut process.frames, None);
        process.call_stack.enter_again(&mut process.frames);
        process.set_function(94);
        assert_eq!(process.stack(), "1 2 90 94");
    }

    #[test]
    fn a_signals_handler_runs_on_what_it_interrupts() {
        let mut process = Process::new();
        process.enter(Some(Pending { end: End::Call, next: 0x10 }));
        process.call_stack.announced.signals = 1;
        process.resume(0x600, 6);
        assert_eq!(process.stack(), "1 6");
        process.leave(0x700, 7); // the code that returns to the kernel
        assert_eq!(process.stack(), "1 7");
        process.enter(None);
        process.call_stack.announced.signal_return = true;
        process.resume(0x200, 2);
        assert_eq!(process.stack(), "1 2");
    }

    #[test]
    fn another_program_begins_with_nothing() {
        let mut process = Process::new();
        process.enter(None);
        process.call_stack.announced.exec = true;
        process.resume(0x800, 8);
        assert_eq!(process.stack(), "8");
        let other = process.frames.tree.process("q");
        process.call_stack.rename(&mut process.frames, other);
        assert_eq!(process.stack(), "8");
    }

    #[test]
    fn a_process_goes_on_where_it_was_exchanged() {
        let mut process = Process::new();
        process.enter(None);
        process.call(0x900, 95);
        process.call_stack.about_to_switch(&process.frames);
        process.call(0x910, 96);
        process.call_stack.switched_away();
        assert_eq!(process.stack(), "1 90");
    }
}
