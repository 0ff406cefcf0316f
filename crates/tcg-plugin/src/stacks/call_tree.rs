//! Stacks as a tree of functions, and how many instructions were executed at each place of it.

use alloc::string::String;
use alloc::vec::Vec;

/// A place in the tree: a function, called by those above it.
pub type Node = u32;
/// Above all processes.
pub const ROOT: Node = 0;

/// What stands at a place in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Label {
    /// A process, by the number of its name.
    Process(u32),
    /// A function of the kernel, by the number of its name.
    Kernel(u32),
    /// A function of a program, by the number of its name.
    User(u32),
    /// Code that the kernel lends to programs.
    Vdso,
}

impl Label {
    /// Whether calls from such to such are shown as one: nothing tells them from each other.
    fn is_anonymous(self) -> bool {
        matches!(self, Self::User(0) | Self::Kernel(0) | Self::Vdso)
    }
}

struct Place {
    parent: Node,
    label: Label,
    /// What was looked for below it last.
    latest: (Label, Node),
    /// All that is below it. A function calls few others, so that they are looked through.
    children: Vec<(Label, Node)>,
}

/// The tree.
pub struct Tree {
    places: Vec<Place>,
    counts: Vec<u64>,
    touched: Vec<Node>,
    /// The names of processes, by number.
    pub processes: Vec<String>,
}

impl Tree {
    /// A tree with nothing in it.
    pub fn new() -> Self {
        let root = Label::Process(u32::MAX);
        let place = Place { parent: ROOT, label: root, latest: (root, ROOT), children: Vec::new() };
        Self {
            places: Vec::from([place]),
            counts: Vec::from([0]),
            touched: Vec::new(),
            processes: Vec::new(),
        }
    }

    /// The place of `label` below `parent`.
    pub fn child(&mut self, parent: Node, label: Label) -> Node {
        let above = &self.places[parent as usize];
        if above.latest.0 == label {
            return above.latest.1;
        }
        if above.label == label && label.is_anonymous() {
            return parent;
        }
        let known = above.children.iter().find(|(other, _)| *other == label).map(|&(_, node)| node);
        let node = known.unwrap_or_else(|| self.grow(parent, label));
        self.places[parent as usize].latest = (label, node);
        node
    }

    /// Makes the place of `label` below `parent`.
    fn grow(&mut self, parent: Node, label: Label) -> Node {
        let node = Node::try_from(self.places.len()).unwrap_or(Node::MAX);
        let latest = (Label::Process(u32::MAX), ROOT);
        self.places.push(Place { parent, label, latest, children: Vec::new() });
        self.counts.push(0);
        self.places[parent as usize].children.push((label, node));
        node
    }

    /// What a place is below.
    pub fn parent(&self, node: Node) -> Node {
        self.places[node as usize].parent
    }

    /// What stands there.
    pub fn label(&self, node: Node) -> Label {
        self.places[node as usize].label
    }

    /// The place of a process of that name.
    pub fn process(&mut self, name: &str) -> Node {
        let known = self.processes.iter().position(|other| other == name);
        let number = known.unwrap_or_else(|| {
            self.processes.push(name.into());
            self.processes.len() - 1
        });
        self.child(ROOT, Label::Process(u32::try_from(number).unwrap_or(u32::MAX)))
    }

    /// Adds so many instructions.
    pub fn count(&mut self, node: Node, instructions: u64) {
        let count = &mut self.counts[node as usize];
        if *count == 0 && instructions > 0 {
            self.touched.push(node);
        }
        *count += instructions;
    }

    /// Takes all that was counted since the last time, in the order of places.
    pub fn take(&mut self) -> Vec<(Node, u64)> {
        self.touched.sort_unstable();
        let counts = &mut self.counts;
        let taken =
            self.touched.iter().map(|&node| (node, core::mem::take(&mut counts[node as usize])));
        let taken = taken.collect();
        self.touched.clear();
        taken
    }

    /// All places but the root: what they are below, and what stands there.
    pub fn places(&self) -> impl Iterator<Item = (Node, Label)> {
        self.places.iter().skip(1).map(|place| (place.parent, place.label))
    }
}

#[cfg(test)]
mod tests {
    use super::{Label, ROOT, Tree};

    #[test]
    fn a_stack_has_one_place_however_often_it_comes() {
        let mut tree = Tree::new();
        let process = tree.process("a");
        let (one, two) = (tree.child(process, Label::User(1)), tree.child(process, Label::User(2)));
        assert_ne!(one, two);
        assert_eq!(tree.child(process, Label::User(1)), one);
        assert_eq!(tree.process("a"), process);
        assert_ne!(tree.process("b"), process);
        let recursive = tree.child(one, Label::User(1));
        assert_ne!(recursive, one);
        assert_eq!(tree.label(recursive), Label::User(1));
        let unknown = tree.child(one, Label::User(0));
        assert_eq!(tree.child(unknown, Label::User(0)), unknown);
        let places: alloc::vec::Vec<_> = tree.places().collect();
        assert_eq!(places[0], (ROOT, Label::Process(0)));
        assert_eq!(places.len(), 6);
    }

    #[test]
    fn what_was_counted_is_taken_once() {
        let mut tree = Tree::new();
        let one = tree.process("a");
        let two = tree.child(one, Label::Vdso);
        tree.count(two, 3);
        tree.count(one, 0);
        tree.count(two, 4);
        assert_eq!(tree.take(), [(two, 7)]);
        assert!(tree.take().is_empty());
    }
}
