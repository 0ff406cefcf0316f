//! The frames of all stacks. Equal frames share one number, so the topmost frame identifies a
//! stack.
//!
//! Each entry into the kernel starts an empty stack, and [`KernelEntry`] records what was
//! interrupted or called the kernel. So the kernel's stacks are the same for all callers, and few.
//! Only instructions are counted by the whole stack.

use alloc::vec::Vec;

use crate::code::decoder::End;
use crate::interner::Interner;
use crate::stacks::call_tree::{CallTree, Label, Node, ROOT};

/// A stack: the number of its topmost frame.
pub type StackId = u32;
/// The empty stack.
pub const NONE: StackId = 0;

/// The number of an entry into the kernel. Equal entries, from one stack, have one number.
pub type KernelEntry = u32;
/// The program runs, or the entry is not known.
pub const NO_ENTRY: KernelEntry = 0;

/// How a block ended whose successor is not known yet, and where it returns to if that was a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pending {
    /// How the block ended.
    pub end: End,
    /// The address behind the block.
    pub next: u64,
}

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Begun by a call, which returns to that address; 0 where the call was not seen.
    Call(u64),
    /// Begun by an entry into the kernel.
    Entry,
    /// Begun by the kernel to handle a signal. It holds how the interrupted block had
    /// ended, if it had.
    Signal(Option<Pending>),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Frame {
    below: StackId,
    node: Node,
    kind: Kind,
}

/// What an entry into the kernel interrupted, or was called by.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Interrupted {
    /// The process.
    pub process: Node,
    /// The entry that the interrupted stack itself began with.
    pub kernel_entry: KernelEntry,
    /// The interrupted stack.
    pub stack: StackId,
    /// How the interrupted block had ended, if it had.
    pub pending: Option<Pending>,
}

/// All frames, and the call trees of their functions.
pub struct Frames {
    /// Functions below a process, or below an entry into the kernel.
    pub tree: CallTree,
    /// Functions below a process, with what was counted.
    pub whole: CallTree,
    /// For each node of `tree` the base it was last asked for, and its node in `whole` below that.
    whole_nodes: Vec<(Node, Node)>,
    all: Vec<Frame>,
    frame_ids: Interner,
    entries: Vec<(Interrupted, Node)>,
    entry_ids: Interner,
}

impl Frames {
    /// None yet.
    pub fn new() -> Self {
        let nothing = Frame { below: NONE, node: ROOT, kind: Kind::Call(0) };
        let none =
            Interrupted { process: ROOT, kernel_entry: NO_ENTRY, stack: NONE, pending: None };
        Self {
            tree: CallTree::new(),
            whole: CallTree::new(),
            whole_nodes: Vec::new(),
            all: Vec::from([nothing]),
            frame_ids: Interner::default(),
            entries: Vec::from([(none, ROOT)]),
            entry_ids: Interner::default(),
        }
    }

    /// The number of the entry that interrupts `from`. `node` is the interrupted function's node in
    /// `tree`.
    pub fn enter(&mut self, from: Interrupted, node: Node) -> KernelEntry {
        let next = KernelEntry::try_from(self.entries.len()).unwrap_or(KernelEntry::MAX);
        let entries = &self.entries;
        let number = self.entry_ids.intern(from, next, |one| entries[one as usize].0 == from);
        if number == next {
            let whole_node = self.whole_node(self.base(from.kernel_entry), node);
            self.entries.push((from, whole_node));
        }
        number
    }

    /// What an entry into the kernel interrupted.
    pub fn interrupted(&self, entry: KernelEntry) -> Interrupted {
        self.entries[entry as usize].0
    }

    /// Whether the kernel was entered from a program, or from code whose begin was not seen.
    pub fn is_from_program(&self, entry: KernelEntry) -> bool {
        self.interrupted(entry).kernel_entry == NO_ENTRY
    }

    /// The node of `whole` below which the functions called since an entry are.
    pub fn base(&self, entry: KernelEntry) -> Node {
        self.entries[entry as usize].1
    }

    /// The node of `whole`, below `base`, for a node of `tree`.
    pub fn whole_node(&mut self, base: Node, node: Node) -> Node {
        if node == ROOT {
            return base;
        }
        match self.whole_nodes.get(node as usize) {
            Some(&(known, whole_node)) if known == base => return whole_node,
            _ => {}
        }
        let above = self.whole_node(base, self.tree.parent(node));
        let whole_node = self.whole.child(above, self.tree.label(node));
        if self.whole_nodes.len() <= node as usize {
            self.whole_nodes.resize(node as usize + 1, (Node::MAX, ROOT));
        }
        self.whole_nodes[node as usize] = (base, whole_node);
        whole_node
    }

    /// Adds instructions to that node of `whole`.
    pub fn count(&mut self, base: Node, node: Node, instructions: u64) {
        if instructions > 0 {
            let whole_node = self.whole_node(base, node);
            self.whole.count(whole_node, instructions);
        }
    }

    /// The stack with another frame on top.
    pub fn push(&mut self, below: StackId, kind: Kind, node: Node) -> StackId {
        let frame = Frame { below, node, kind };
        let next = StackId::try_from(self.all.len()).unwrap_or(StackId::MAX);
        let all = &self.all;
        let number = self.frame_ids.intern(frame, next, |one| all[one as usize] == frame);
        if number == next {
            self.all.push(frame);
        }
        number
    }

    /// The stack without its topmost frame.
    pub fn below(&self, stack: StackId) -> StackId {
        self.all[stack as usize].below
    }

    /// The node of `tree` of the topmost function.
    pub fn node(&self, stack: StackId) -> Node {
        self.all[stack as usize].node
    }

    /// What the topmost frame is.
    pub fn kind(&self, stack: StackId) -> Kind {
        self.all[stack as usize].kind
    }

    /// The topmost function.
    pub fn label(&self, stack: StackId) -> Label {
        self.tree.label(self.node(stack))
    }

    /// Whether the topmost function is that one.
    pub fn is_of(&self, stack: StackId, label: Label) -> bool {
        stack != NONE && self.label(stack) == label
    }

    /// If the topmost frame is a signal's handler: how the interrupted block had ended.
    pub fn pending(&self, stack: StackId) -> Option<Pending> {
        match self.kind(stack) {
            Kind::Signal(pending) => pending,
            Kind::Entry | Kind::Call(_) => None,
        }
    }

    /// The stack and all below it, each by its topmost frame.
    pub fn all(&self, stack: StackId) -> impl Iterator<Item = StackId> {
        core::iter::successors(Some(stack), |&stack| Some(self.below(stack)))
            .take_while(|&stack| stack != NONE)
    }

    /// The frames of calls since the last entry into the kernel or the last signal.
    pub fn calls(&self, stack: StackId) -> impl Iterator<Item = StackId> {
        self.all(stack).take_while(|&stack| matches!(self.kind(stack), Kind::Call(_)))
    }

    /// The same stack, of another process.
    pub fn moved(&mut self, stack: StackId, process: Node) -> StackId {
        let frames: Vec<_> = self.all(stack).map(|one| (self.kind(one), self.label(one))).collect();
        let (mut moved, mut above) = (NONE, process);
        for (kind, label) in frames.into_iter().rev() {
            above = self.tree.child(above, label);
            moved = self.push(moved, kind, above);
        }
        moved
    }
}
