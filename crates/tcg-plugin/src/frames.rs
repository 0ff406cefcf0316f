//! The frames of all stacks. One that is alike has one number, so that a stack is known by its topmost.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::decode::End;
use crate::tree::{Label, Node, Tree};

/// A stack, by its topmost frame.
pub type Stack = u32;
/// The stack that has no frame.
pub const NONE: Stack = 0;

/// How a block ended whose successor is not known yet, and where it returns to if that was a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pending {
    /// How the block ended.
    pub end: End,
    /// Where the code behind it is.
    pub next: u64,
}

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Begun by a call, which returns to that address; 0 where nobody saw the call.
    Call(u64),
    /// Begun by an entry into the kernel. What was interrupted had just ended so, if at all.
    Entry(Option<Pending>),
    /// Begun by the kernel to handle a signal. What was interrupted had just ended so, if at all.
    Signal(Option<Pending>),
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Frame {
    below: Stack,
    node: Node,
    kind: Kind,
}

/// All frames, and the tree in which their functions stand.
pub struct Frames {
    /// Where functions stand.
    pub tree: Tree,
    all: Vec<Frame>,
    numbers: BTreeMap<Frame, Stack>,
}

impl Frames {
    /// None yet.
    pub fn new() -> Self {
        let nothing = Frame { below: NONE, node: 0, kind: Kind::Call(0) };
        Self { tree: Tree::new(), all: Vec::from([nothing]), numbers: BTreeMap::new() }
    }

    /// The stack with another frame on top.
    pub fn push(&mut self, below: Stack, kind: Kind, node: Node) -> Stack {
        let frame = Frame { below, node, kind };
        let next = Stack::try_from(self.all.len()).unwrap_or(Stack::MAX);
        let number = *self.numbers.entry(frame).or_insert(next);
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

    /// How what the topmost frame interrupted had ended.
    pub fn pending(&self, stack: Stack) -> Option<Pending> {
        match self.kind(stack) {
            Kind::Entry(pending) | Kind::Signal(pending) => pending,
            Kind::Call(_) => None,
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

    /// Those that entries into the kernel began.
    pub fn entries(&self, stack: Stack) -> impl Iterator<Item = Stack> {
        self.all(stack).filter(|&stack| matches!(self.kind(stack), Kind::Entry(_)))
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
