//! The frames of all stacks. One that is alike has one number, so that a stack is known by its topmost.
//!
//! Where the kernel is entered a stack begins anew, which stands on a [`Floor`]: what was interrupted,
//! or called the kernel. So the kernel's stacks are alike whoever called it, and are few. Only what is
//! counted is counted by the whole stack.

use alloc::vec::Vec;

use crate::decode::End;
use crate::numbers::Numbers;
use crate::tree::{Label, Node, ROOT, Tree};

/// A stack, by its topmost frame.
pub type Stack = u32;
/// The stack that has no frame.
pub const NONE: Stack = 0;

/// What a stack stands on: a process, or what was interrupted by an entry into the kernel.
pub type Floor = u32;
/// A process, or nothing.
pub const GROUND: Floor = 0;

/// How a block ended whose successor is not known yet, and where it returns to if that was a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pending {
    /// How the block ended.
    pub end: End,
    /// Where the code behind it is.
    pub next: u64,
}

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Begun by a call, which returns to that address; 0 where nobody saw the call.
    Call(u64),
    /// Begun by an entry into the kernel.
    Entry,
    /// Begun by the kernel to handle a signal. What was interrupted had just ended so, if at all.
    Signal(Option<Pending>),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Frame {
    below: Stack,
    node: Node,
    kind: Kind,
}

/// What an entry into the kernel interrupted, or was called by.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Interrupted {
    /// The process.
    pub process: Node,
    /// What the stack that was interrupted stands on itself.
    pub floor: Floor,
    /// The stack that was interrupted.
    pub stack: Stack,
    /// How what was interrupted had just ended, if it had.
    pub pending: Option<Pending>,
}

/// All frames, and the trees in which their functions stand.
pub struct Frames {
    /// Where functions stand, from a process up or from an entry into the kernel.
    pub tree: Tree,
    /// Where they stand from a process up, and what was counted there.
    pub whole: Tree,
    /// For each place in `tree` where it is in `whole`, above that place there.
    places: Vec<(Node, Node)>,
    all: Vec<Frame>,
    numbers: Numbers,
    floors: Vec<(Interrupted, Node)>,
    floor_numbers: Numbers,
}

impl Frames {
    /// None yet.
    pub fn new() -> Self {
        let nothing = Frame { below: NONE, node: ROOT, kind: Kind::Call(0) };
        let ground = Interrupted { process: ROOT, floor: GROUND, stack: NONE, pending: None };
        Self {
            tree: Tree::new(),
            whole: Tree::new(),
            places: Vec::new(),
            all: Vec::from([nothing]),
            numbers: Numbers::default(),
            floors: Vec::from([(ground, ROOT)]),
            floor_numbers: Numbers::default(),
        }
    }

    /// The floor of what enters the kernel from there; `node` is the place of the function that was
    /// interrupted, from its own floor up.
    pub fn enter(&mut self, from: Interrupted, node: Node) -> Floor {
        let next = Floor::try_from(self.floors.len()).unwrap_or(Floor::MAX);
        let floors = &self.floors;
        let number = self.floor_numbers.number(from, next, |one| floors[one as usize].0 == from);
        if number == next {
            let place = self.place(self.base(from.floor), node);
            self.floors.push((from, place));
        }
        number
    }

    /// What an entry into the kernel interrupted.
    pub fn interrupted(&self, floor: Floor) -> Interrupted {
        self.floors[floor as usize].0
    }

    /// Whether that was entered from a program, or from what nobody saw begin.
    pub fn is_lowest(&self, floor: Floor) -> bool {
        self.interrupted(floor).floor == GROUND
    }

    /// Where in the whole tree what stands on a floor begins.
    pub fn base(&self, floor: Floor) -> Node {
        self.floors[floor as usize].1
    }

    /// The place in the whole tree of one that begins there.
    pub fn place(&mut self, base: Node, node: Node) -> Node {
        if node == ROOT {
            return base;
        }
        match self.places.get(node as usize) {
            Some(&(known, place)) if known == base => return place,
            _ => {}
        }
        let above = self.place(base, self.tree.parent(node));
        let place = self.whole.child(above, self.tree.label(node));
        if self.places.len() <= node as usize {
            self.places.resize(node as usize + 1, (Node::MAX, ROOT));
        }
        self.places[node as usize] = (base, place);
        place
    }

    /// Adds so many instructions to a place that begins there.
    pub fn count(&mut self, base: Node, node: Node, instructions: u64) {
        if instructions > 0 {
            let place = self.place(base, node);
            self.whole.count(place, instructions);
        }
    }

    /// The stack with another frame on top.
    pub fn push(&mut self, below: Stack, kind: Kind, node: Node) -> Stack {
        let frame = Frame { below, node, kind };
        let next = Stack::try_from(self.all.len()).unwrap_or(Stack::MAX);
        let all = &self.all;
        let number = self.numbers.number(frame, next, |one| all[one as usize] == frame);
        if number == next {
            self.all.push(frame);
        }
        number
    }

    /// The stack without its topmost frame.
    pub fn below(&self, stack: Stack) -> Stack {
        self.all[stack as usize].below
    }

    /// The place of the topmost function.
    pub fn node(&self, stack: Stack) -> Node {
        self.all[stack as usize].node
    }

    /// What the topmost frame is.
    pub fn kind(&self, stack: Stack) -> Kind {
        self.all[stack as usize].kind
    }

    /// The topmost function.
    pub fn label(&self, stack: Stack) -> Label {
        self.tree.label(self.node(stack))
    }

    /// Whether the topmost function is that one.
    pub fn is_of(&self, stack: Stack, label: Label) -> bool {
        stack != NONE && self.label(stack) == label
    }

    /// How what the topmost frame, a signal's handler, interrupted had ended.
    pub fn pending(&self, stack: Stack) -> Option<Pending> {
        match self.kind(stack) {
            Kind::Signal(pending) => pending,
            Kind::Entry | Kind::Call(_) => None,
        }
    }

    /// The stack and all below it, each by its topmost frame.
    pub fn all(&self, stack: Stack) -> impl Iterator<Item = Stack> {
        core::iter::successors(Some(stack), |&stack| Some(self.below(stack)))
            .take_while(|&stack| stack != NONE)
    }

    /// Those that calls began since the kernel was entered last, or a signal came.
    pub fn calls(&self, stack: Stack) -> impl Iterator<Item = Stack> {
        self.all(stack).take_while(|&stack| matches!(self.kind(stack), Kind::Call(_)))
    }

    /// The same stack, of another process.
    pub fn moved(&mut self, stack: Stack, process: Node) -> Stack {
        let frames: Vec<_> = self.all(stack).map(|one| (self.kind(one), self.label(one))).collect();
        let (mut moved, mut above) = (NONE, process);
        for (kind, label) in frames.into_iter().rev() {
            above = self.tree.child(above, label);
            moved = self.push(moved, kind, above);
        }
        moved
    }
}
