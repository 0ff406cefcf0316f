//! The stack of one process: which functions were called and have not returned, as far as known.

use alloc::vec::Vec;

use crate::decode::End;
use crate::tree::{Node, Tree};

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Begun by a call, which returns to that address; 0 where nobody saw the call.
    Call(u64),
    /// Begun by an entry into the kernel. What was interrupted had just ended so, if at all.
    Entry(Option<Pending>),
    /// Begun by the kernel to handle a signal. What was interrupted had just ended so, if at all.
    Signal(Option<Pending>),
}

/// How a block ended whose successor is not known yet, and where it returns to if that was a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pending {
    /// How the block ended.
    pub end: End,
    /// Where the code behind it is.
    pub next: u64,
}

struct Frame {
    kind: Kind,
    node: Node,
}

/// What the kernel has announced since it was entered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
#[derive(Default)]
pub struct Context {
    /// The process, in the tree.
    pub process: Node,
    frames: Vec<Frame>,
    /// What the kernel has announced.
    pub announced: Announced,
    /// How many frames there were when the process was about to be exchanged for another.
    before_switch: usize,
}

impl Context {
    /// The stack of a process of which nothing is known yet.
    pub fn of(process: Node) -> Self {
        Self { process, ..Self::default() }
    }

    /// Whether anything is known of it.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// The place of what called the topmost function.
    #[inline]
    pub fn above(&self) -> Node {
        self.frames.len().checked_sub(2).map_or(self.process, |index| self.frames[index].node)
    }

    /// The place of the topmost function.
    pub fn node(&self) -> Node {
        self.frames.last().map_or(self.process, |frame| frame.node)
    }

    /// The place that the topmost function has if it is that one; it is from now on.
    pub fn stand(&mut self, tree: &mut Tree, label: crate::tree::Label) -> Node {
        if self.frames.is_empty() {
            self.frames.push(Frame { kind: Kind::Call(0), node: self.process });
        }
        let node = tree.child(self.above(), label);
        if let Some(top) = self.frames.last_mut() {
            top.node = node;
        }
        node
    }

    /// The function that is topmost, if one is.
    pub fn label(&self, tree: &Tree) -> Option<crate::tree::Label> {
        self.frames.last().map(|frame| tree.label(frame.node))
    }

    /// The topmost function has that place, which is below what called it.
    #[inline]
    pub fn stand_at(&mut self, node: Node) {
        match self.frames.last_mut() {
            Some(top) => top.node = node,
            None => self.frames.push(Frame { kind: Kind::Call(0), node }),
        }
    }

    /// The topmost function calls one, which returns to that place.
    #[inline]
    pub fn call(&mut self, place: u64) {
        self.push(Kind::Call(place));
    }

    /// The place of what called the caller of the topmost function, if that returns to `place`.
    #[inline]
    pub fn caller(&self, place: u64) -> Option<Node> {
        let returns = self.frames.last()?.kind == Kind::Call(place);
        let above = self.frames.len().checked_sub(3);
        returns.then(|| above.map_or(self.process, |index| self.frames[index].node))
    }

    /// The topmost function has returned.
    #[inline]
    pub fn leave(&mut self) {
        self.frames.pop();
    }

    /// It is known now which function came after a return: to who waits there.
    ///
    /// Else who called last has been returned to.
    pub fn settle(&mut self, tree: &Tree, label: crate::tree::Label) {
        let base = self.base();
        if self.frames.last().is_some_and(|top| tree.label(top.node) == label) {
            return;
        }
        let found = self.frames[base..].iter().rposition(|frame| tree.label(frame.node) == label);
        if let Some(index) = found {
            self.frames.truncate(base + index + 1);
        }
    }

    fn push(&mut self, kind: Kind) {
        self.frames.push(Frame { kind, node: self.node() });
    }

    /// The kernel is entered. `pending` is how what is interrupted ended, if it ended.
    pub fn enter(&mut self, pending: Option<Pending>) {
        self.push(Kind::Entry(pending));
    }

    /// A block ended so, and `start` comes after it, if that is known.
    pub fn go_on(&mut self, pending: Pending, start: Option<u64>) {
        match pending.end {
            End::Call => self.push(Kind::Call(pending.next)),
            End::Return => self.leave_function(start),
            _ => {}
        }
    }

    /// A function returns to `place`: to the latest caller that waits there, else to who called it.
    ///
    /// Code that jumps by a return (a return trampoline) finds no caller at the place; and callers
    /// that were left by a jump are dropped when one below them is found.
    fn leave_function(&mut self, place: Option<u64>) {
        let Some(place) = place else {
            if matches!(self.frames.last(), Some(Frame { kind: Kind::Call(_), .. })) {
                self.frames.pop();
            }
            return;
        };
        let base = self.base();
        let found = self.frames[base..].iter().rposition(|frame| frame.kind == Kind::Call(place));
        let keeps = match found {
            Some(index) => base + index,
            None => self.frames.len().saturating_sub(1).max(base),
        };
        self.frames.truncate(keeps);
    }

    /// How many frames lie below those that calls began since the kernel was entered last, or a
    /// signal came.
    fn base(&self) -> usize {
        let last = self.frames.iter().rposition(|frame| !matches!(frame.kind, Kind::Call(_)));
        last.map_or(0, |index| index + 1)
    }

    /// A program jumps to an address that it has in memory, in the midst of that function: if that
    /// waits below, it goes on there (`longjmp`).
    pub fn jump(&mut self, tree: &Tree, label: crate::tree::Label) {
        if tree.label(self.node()) == label {
            return;
        }
        let found = self.frames.iter().rposition(|frame| tree.label(frame.node) == label);
        if let Some(index) = found {
            self.frames.truncate(index + 1);
        }
    }

    /// The kernel returns to what it interrupted, or was called by, and is entered again before a
    /// single block of that ran.
    pub fn enter_again(&mut self) {
        let entry = |frame: &Frame| matches!(frame.kind, Kind::Entry(_));
        let Some(index) = self.frames.iter().rposition(entry) else {
            self.frames.clear();
            self.enter(None);
            return;
        };
        let is_outermost = !self.frames[..index].iter().any(entry);
        let pending = if is_outermost {
            self.leave_kernel()
        } else {
            let pending = self.pending(index);
            self.frames.truncate(index);
            pending
        };
        self.enter(pending);
    }

    /// The kernel goes on with what it interrupted in itself, at `start`.
    pub fn resume_kernel(&mut self, start: Option<u64>) {
        let entry = |frame: &Frame| matches!(frame.kind, Kind::Entry(_));
        let Some(index) = self.frames.iter().rposition(entry) else {
            self.frames.clear();
            return;
        };
        let pending = self.pending(index);
        self.frames.truncate(index);
        if let Some(pending) = pending {
            self.go_on(pending, start);
        }
    }

    /// The program goes on, at `start`: with what was interrupted, with the handler of a signal, or
    /// as another program.
    pub fn resume_user(&mut self, start: Option<u64>) {
        if let Some(pending) = self.leave_kernel() {
            self.go_on(pending, start);
        }
    }

    /// Drops what the kernel has on the stack; how what it interrupted had ended, if it goes on.
    fn leave_kernel(&mut self) -> Option<Pending> {
        let Announced { signals, signal_return, exec, .. } = core::mem::take(&mut self.announced);
        let entry = |frame: &Frame| matches!(frame.kind, Kind::Entry(_));
        let Some(index) = self.frames.iter().position(entry).filter(|_| !exec) else {
            self.frames.clear();
            return None;
        };
        let pending = self.pending(index);
        self.frames.truncate(index);
        if signals > 0 {
            for _ in 0..signals {
                self.push(Kind::Signal(pending));
            }
            return None;
        }
        let signal = |frame: &Frame| matches!(frame.kind, Kind::Signal(_));
        match self.frames.iter().rposition(signal).filter(|_| signal_return) {
            Some(handler) => {
                let pending = self.pending(handler);
                self.frames.truncate(handler);
                pending
            }
            None => pending,
        }
    }

    fn pending(&self, index: usize) -> Option<Pending> {
        match self.frames.get(index)?.kind {
            Kind::Entry(pending) | Kind::Signal(pending) => pending,
            Kind::Call(_) => None,
        }
    }

    /// The process is about to be exchanged for another; the topmost function does it.
    pub fn about_to_switch(&mut self) {
        self.before_switch = self.frames.len().saturating_sub(1);
    }

    /// The process was exchanged for another; it goes on later where that was called.
    pub fn switched_away(&mut self) {
        self.frames.truncate(self.before_switch);
    }

    /// The process has another name; what it stands in stays.
    pub fn rename(&mut self, tree: &mut Tree, process: Node) {
        self.process = process;
        let mut above = process;
        for frame in &mut self.frames {
            above = tree.child(above, tree.label(frame.node));
            frame.node = above;
        }
    }

    /// The process begins anew, as another.
    pub fn begin(&mut self, process: Node) {
        *self = Self::of(process);
    }
}

#[cfg(test)]
mod tests {
    use super::{Context, Pending};
    use crate::decode::End;
    use crate::tree::{Label, Tree};
    use alloc::string::String;
    use alloc::vec::Vec;

    /// A process whose functions are numbers; 90 and above are the kernel's.
    struct Process {
        tree: Tree,
        context: Context,
    }

    impl Process {
        fn new() -> Self {
            let mut tree = Tree::new();
            let process = tree.process("p");
            let mut new = Self { tree, context: Context::of(process) };
            new.stand(1);
            new
        }

        fn stand(&mut self, function: u32) {
            let label = if function < 90 { Label::User(function) } else { Label::Kernel(function) };
            self.context.stand(&mut self.tree, label);
        }

        fn call(&mut self, returns_to: u64, function: u32) {
            self.context.go_on(Pending { end: End::Call, next: returns_to }, None);
            self.stand(function);
        }

        fn leave(&mut self, place: u64, function: u32) {
            self.context.go_on(Pending { end: End::Return, next: 0 }, Some(place));
            self.stand(function);
        }

        fn enter(&mut self, pending: Option<Pending>) {
            self.context.enter(pending);
            self.stand(90);
        }

        fn resume(&mut self, place: u64, function: u32) {
            self.context.resume_user(Some(place));
            self.stand(function);
        }

        /// The functions from the first to the topmost.
        fn stack(&self) -> String {
            let places: Vec<_> = self.tree.places().collect();
            let mut node = self.context.node();
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
        process.context.jump(&process.tree, Label::User(2));
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
        process.context.enter(None);
        process.stand(92);
        process.context.resume_kernel(Some(0x901));
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
        process.context.enter_again();
        process.stand(93);
        assert_eq!(process.stack(), "1 93");
        process.resume(0x200, 2);
        process.enter(None);
        process.context.enter(None);
        process.context.enter_again();
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
        let other = process.tree.process("q");
        process.context.rename(&mut process.tree, other);
        assert_eq!(process.stack(), "8");
    }

    #[test]
    fn a_process_goes_on_where_it_was_exchanged() {
        let mut process = Process::new();
        process.enter(None);
        process.call(0x900, 95);
        process.context.about_to_switch();
        process.call(0x910, 96);
        process.context.switched_away();
        assert_eq!(process.stack(), "1 90");
    }
}
