//! The stack of one process: which functions were called and have not returned, as far as known.

use crate::decode::{Block, End};
use crate::frames::{Floor, Frames, GROUND, Interrupted, Kind, NONE, Pending, Stack};
use crate::tree::{Label, Node, ROOT};

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
pub struct Context {
    /// The process, in the tree.
    pub process: Node,
    floor: Floor,
    /// The stack, from the floor up.
    top: Stack,
    /// What the kernel has announced.
    pub announced: Announced,
    /// What was below the topmost frame when the process was about to be exchanged for another.
    before_switch: Stack,
}

/// Stands for any floor but the ground.
const ANY: Floor = 1;

impl Context {
    /// The stack of a process of which nothing is known yet.
    pub fn of(process: Node) -> Self {
        Self { process, ..Self::default() }
    }

    /// Whether nothing is known of it.
    pub fn is_empty(&self) -> bool {
        self.top == NONE && self.floor == GROUND
    }

    /// What it stands on, if it is in the kernel and the entry is known.
    pub fn floor(&self) -> Option<Floor> {
        (self.floor != GROUND).then_some(self.floor)
    }

    /// The same for all that stand on any floor.
    pub fn on_any_floor(self) -> Self {
        let process = if self.floor == GROUND { self.process } else { ROOT };
        Self { process, floor: self.floor.min(ANY), ..self }
    }

    /// What is the same for all that stand on any floor, on that floor.
    pub fn on_floor(self, frames: &Frames, floor: Floor) -> Self {
        if self.floor == GROUND {
            return self;
        }
        Self { process: frames.interrupted(floor).process, floor, ..self }
    }

    /// The place of what called the topmost function.
    fn above(&self, frames: &Frames) -> Node {
        self.node_of(frames, frames.below(self.top))
    }

    /// The place of the topmost function, from the floor up.
    pub fn node(&self, frames: &Frames) -> Node {
        self.node_of(frames, self.top)
    }

    fn node_of(&self, frames: &Frames, stack: Stack) -> Node {
        match stack {
            NONE if self.floor == GROUND => self.process,
            NONE => ROOT,
            _ => frames.node(stack),
        }
    }

    /// The place of the topmost function in the whole tree.
    pub fn place(&self, frames: &mut Frames) -> Node {
        frames.place(frames.base(self.floor), self.node(frames))
    }

    /// The topmost function executes so many instructions.
    pub fn count(&self, frames: &mut Frames, instructions: u64) {
        frames.count(frames.base(self.floor), self.node(frames), instructions);
    }

    /// The topmost function is that one from now on.
    pub fn stand(&mut self, frames: &mut Frames, label: Label) {
        let node = self.node_beside(frames, label);
        let kind = if self.top == NONE { Kind::Call(0) } else { frames.kind(self.top) };
        self.top = frames.push(frames.below(self.top), kind, node);
    }

    /// The place that the topmost function would have if it were that one.
    pub fn node_beside(&self, frames: &mut Frames, label: Label) -> Node {
        frames.tree.child(self.above(frames), label)
    }

    /// The function that is topmost, if one is.
    pub fn label(&self, frames: &Frames) -> Option<Label> {
        (self.top != NONE).then(|| frames.label(self.top))
    }

    /// It is known now which function came after a return: to who waits there.
    ///
    /// Else who called last has been returned to.
    pub fn settle(&mut self, frames: &Frames, label: Label) {
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
        self.floor = self.floor_on_top(frames, pending);
        self.top = frames.push(NONE, Kind::Entry, ROOT);
    }

    /// What the kernel stands on if it is entered now.
    fn floor_on_top(&self, frames: &mut Frames, pending: Option<Pending>) -> Floor {
        let Self { process, floor, top: stack, .. } = *self;
        frames.enter(Interrupted { process, floor, stack, pending }, self.node(frames))
    }

    /// A block ended so, and `start` comes after it, if that is known.
    pub fn go_on(&mut self, frames: &mut Frames, pending: Pending, start: Option<u64>) {
        match pending.end {
            End::Call => self.push(frames, Kind::Call(pending.next)),
            End::Return => self.leave_function(frames, start),
            _ => {}
        }
    }

    /// A function returns to `place`: to the latest caller that waits there, else to who called it.
    ///
    /// Code that jumps by a return (a return trampoline) finds no caller at the place; and callers
    /// that were left by a jump are dropped when one below them is found.
    fn leave_function(&mut self, frames: &Frames, place: Option<u64>) {
        let waits = |&stack: &Stack| place.is_some_and(|at| frames.kind(stack) == Kind::Call(at));
        let found = frames.calls(self.top).find(waits);
        if let Some(left) = found.or_else(|| frames.calls(self.top).next()) {
            self.top = frames.below(left);
        }
    }

    /// A program jumps to an address that it has in memory, in the midst of that function: if that
    /// waits below, it goes on there (`longjmp`).
    pub fn jump(&mut self, frames: &Frames, label: Label) {
        if frames.tree.label(self.node(frames)) == label {
            return;
        }
        if let Some(found) = frames.all(self.top).find(|&stack| frames.is_of(stack, label)) {
            self.top = found;
        }
    }

    /// The kernel returns to what it interrupted, or was called by, and is entered again before a
    /// single block of that ran.
    pub fn enter_again(&mut self, frames: &mut Frames) {
        let pending = if self.floor != GROUND && frames.is_lowest(self.floor) {
            self.leave_kernel(frames)
        } else {
            self.leave_entry(frames)
        };
        self.enter(frames, pending);
    }

    /// The kernel goes on with what it interrupted in itself, at `start`.
    pub fn resume_kernel(&mut self, frames: &mut Frames, start: Option<u64>) {
        if let Some(pending) = self.leave_entry(frames) {
            self.go_on(frames, pending, start);
        }
    }

    /// Drops what the kernel has on the stack since it was entered last; how what that interrupted
    /// had ended, if it had.
    fn leave_entry(&mut self, frames: &Frames) -> Option<Pending> {
        let Interrupted { floor, stack, pending, .. } = frames.interrupted(self.floor);
        (self.floor, self.top) = (floor, stack);
        pending
    }

    /// The program goes on, at `start`: with what was interrupted, with the handler of a signal, or
    /// as another program.
    pub fn resume_user(&mut self, frames: &mut Frames, start: Option<u64>) {
        if let Some(pending) = self.leave_kernel(frames) {
            self.go_on(frames, pending, start);
        }
    }

    /// Drops what the kernel has on the stack; how what it interrupted had ended, if it goes on.
    fn leave_kernel(&mut self, frames: &mut Frames) -> Option<Pending> {
        let Announced { signals, signal_return, exec, .. } = core::mem::take(&mut self.announced);
        if self.floor == GROUND || exec {
            (self.floor, self.top) = (GROUND, NONE);
            return None;
        }
        let mut pending = None;
        while self.floor != GROUND {
            pending = self.leave_entry(frames);
        }
        if signals > 0 {
            for _ in 0..signals {
                self.push(frames, Kind::Signal(pending));
            }
            return None;
        }
        let is_handler = |&stack: &Stack| matches!(frames.kind(stack), Kind::Signal(_));
        match frames.all(self.top).find(is_handler).filter(|_| signal_return) {
            Some(handler) => {
                self.top = frames.below(handler);
                frames.pending(handler)
            }
            None => pending,
        }
    }

    /// The process is about to be exchanged for another; the topmost function does it.
    pub fn about_to_switch(&mut self, frames: &Frames) {
        self.before_switch = frames.below(self.top);
    }

    /// The process was exchanged for another; it goes on later where that was called.
    pub fn switched_away(&mut self) {
        self.top = core::mem::take(&mut self.before_switch);
    }

    /// The process has another name; what it stands in stays.
    pub fn rename(&mut self, frames: &mut Frames, process: Node) {
        if self.floor == GROUND {
            self.top = frames.moved(self.top, process);
        } else {
            let mut interrupted = *self;
            let pending = interrupted.leave_entry(frames);
            interrupted.rename(frames, process);
            self.floor = interrupted.floor_on_top(frames, pending);
        }
        self.process = process;
    }

    /// The topmost function executes so many instructions of a block, so often; the block may reach
    /// into other functions, which then stand in its place.
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
            self.stand(frames, Label::Kernel(part.function));
            self.count(frames, u64::from(count) * times);
            left -= count;
        }
    }

    /// The process begins anew, as another.
    pub fn begin(&mut self, process: Node) {
        *self = Self::of(process);
    }
}

#[cfg(test)]
mod tests {
    use super::Context;
    use crate::decode::End;
    use crate::frames::{Frames, Pending};
    use crate::tree::Label;
    use alloc::string::String;
    use alloc::vec::Vec;

    /// A process whose functions are numbers; 90 and above are the kernel's.
    struct Process {
        frames: Frames,
        context: Context,
    }

    impl Process {
        fn new() -> Self {
            let mut frames = Frames::new();
            let process = frames.tree.process("p");
            let mut new = Self { frames, context: Context::of(process) };
            new.stand(1);
            new
        }

        fn stand(&mut self, function: u32) {
            let label = if function < 90 { Label::User(function) } else { Label::Kernel(function) };
            self.context.stand(&mut self.frames, label);
        }

        fn call(&mut self, returns_to: u64, function: u32) {
            self.context.go_on(
                &mut self.frames,
                Pending { end: End::Call, next: returns_to },
                None,
            );
            self.stand(function);
        }

        fn leave(&mut self, place: u64, function: u32) {
            self.context.go_on(
                &mut self.frames,
                Pending { end: End::Return, next: 0 },
                Some(place),
            );
            self.stand(function);
        }

        fn enter(&mut self, pending: Option<Pending>) {
            self.context.enter(&mut self.frames, pending);
            self.stand(90);
        }

        fn resume(&mut self, place: u64, function: u32) {
            self.context.resume_user(&mut self.frames, Some(place));
            self.stand(function);
        }

        /// The functions from the first to the topmost.
        fn stack(&mut self) -> String {
            let mut node = self.context.place(&mut self.frames);
            let places: Vec<_> = self.frames.whole.places().collect();
            let mut numbers = Vec::new();
            while let Some((parent, Label::User(number) | Label::Kernel(number))) =
                (node as usize).checked_sub(1).map(|index| places[index])
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
        process.stand(3); // a jump to another function: a call in the place of a return
        assert_eq!(process.stack(), "1 3");
        process.leave(0x10, 1);
        assert_eq!(process.stack(), "1");
        process.leave(0x99, 7); // to somebody whose call nobody saw
        assert_eq!(process.stack(), "7");
    }

    #[test]
    fn a_return_that_is_a_jump_leads_on() {
        let mut process = Process::new();
        process.call(0x10, 4); // a trampoline, which calls within itself,
        process.call(0x40, 4); // and puts another address in the place of its own
        process.leave(0x500, 5);
        assert_eq!(process.stack(), "1 5");
        process.leave(0x10, 1);
        assert_eq!(process.stack(), "1");
    }

    #[test]
    fn callers_that_were_left_are_dropped() {
        let mut process = Process::new();
        for (place, function) in [(0x10, 2), (0x20, 3), (0x30, 4)] {
            process.call(place, function);
        }
        process.context.jump(&process.frames, Label::User(2));
        process.stand(2);
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
        process.context.enter(&mut process.frames, None);
        process.stand(92);
        process.context.resume_kernel(&mut process.frames, Some(0x901));
        process.stand(91);
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
        process.context.enter_again(&mut process.frames);
        process.stand(93);
        assert_eq!(process.stack(), "1 93");
        process.resume(0x200, 2);
        process.enter(None);
        process.context.enter(&mut process.frames, None);
        process.context.enter_again(&mut process.frames);
        process.stand(94);
        assert_eq!(process.stack(), "1 2 90 94");
    }

    #[test]
    fn a_signals_handler_runs_on_what_it_interrupts() {
        let mut process = Process::new();
        process.enter(Some(Pending { end: End::Call, next: 0x10 }));
        process.context.announced.signals = 1;
        process.resume(0x600, 6);
        assert_eq!(process.stack(), "1 6");
        process.leave(0x700, 7); // the code that returns to the kernel
        assert_eq!(process.stack(), "1 7");
        process.enter(None);
        process.context.announced.signal_return = true;
        process.resume(0x200, 2);
        assert_eq!(process.stack(), "1 2");
    }

    #[test]
    fn another_program_begins_with_nothing() {
        let mut process = Process::new();
        process.enter(None);
        process.context.announced.exec = true;
        process.resume(0x800, 8);
        assert_eq!(process.stack(), "8");
        let other = process.frames.tree.process("q");
        process.context.rename(&mut process.frames, other);
        assert_eq!(process.stack(), "8");
    }

    #[test]
    fn a_process_goes_on_where_it_was_exchanged() {
        let mut process = Process::new();
        process.enter(None);
        process.call(0x900, 95);
        process.context.about_to_switch(&process.frames);
        process.call(0x910, 96);
        process.context.switched_away();
        assert_eq!(process.stack(), "1 90");
    }
}
