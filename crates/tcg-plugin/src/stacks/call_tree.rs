//! The call tree: functions below their callers, with the instructions counted for each.

use alloc::string::String;
use alloc::vec::Vec;

/// A node of the tree, by its number: a function below its callers.
pub type Node = u32;
/// The parent of all processes.
pub const ROOT: Node = 0;

/// What a node stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Label {
    /// A process, by the number of its name.
    Process(u32),
    /// A function of the kernel, by the number of its name.
    Kernel(u32),
    /// A function of a program, by the number of its name.
    User(u32),
    /// The kernel's code that programs execute (vDSO).
    Vdso,
}

impl Label {
    /// Whether calls from one to another are shown as one node: nothing distinguishes them.
    fn is_anonymous(self) -> bool {
        matches!(self, Self::User(0) | Self::Kernel(0) | Self::Vdso)
    }
}

struct NodeData {
    parent: Node,
    label: Label,
    /// The child that was looked up last.
    latest: (Label, Node),
    /// A list, not a map: a function calls few others.
    children: Vec<(Label, Node)>,
}

/// Instructions by node.
#[derive(Default)]
pub struct Sums {
    counts: Vec<u64>,
    touched: Vec<Node>,
}

/// A call tree.
pub struct CallTree {
    nodes: Vec<NodeData>,
    /// What was counted, on the processor whose turn it is.
    pub sums: Sums,
    /// The names of processes, by number.
    pub processes: Vec<String>,
}

impl CallTree {
    /// An empty tree.
    pub fn new() -> Self {
        let none = Label::Process(u32::MAX);
        let root =
            NodeData { parent: ROOT, label: none, latest: (none, ROOT), children: Vec::new() };
        Self { nodes: Vec::from([root]), sums: Sums::default(), processes: Vec::new() }
    }

    /// The child of `parent` for `label`.
    pub fn child(&mut self, parent: Node, label: Label) -> Node {
        let above = &self.nodes[parent as usize];
        if above.latest.0 == label {
            return above.latest.1;
        }
        if above.label == label && label.is_anonymous() {
            return parent;
        }
        let known = above.children.iter().find(|(other, _)| *other == label).map(|&(_, node)| node);
        let node = known.unwrap_or_else(|| self.grow(parent, label));
        self.nodes[parent as usize].latest = (label, node);
        node
    }

    /// Adds a child.
    fn grow(&mut self, parent: Node, label: Label) -> Node {
        let node = Node::try_from(self.nodes.len()).unwrap_or(Node::MAX);
        let latest = (Label::Process(u32::MAX), ROOT);
        self.nodes.push(NodeData { parent, label, latest, children: Vec::new() });
        self.nodes[parent as usize].children.push((label, node));
        node
    }

    /// The parent of a node.
    pub fn parent(&self, node: Node) -> Node {
        self.nodes[node as usize].parent
    }

    /// What a node stands for.
    pub fn label(&self, node: Node) -> Label {
        self.nodes[node as usize].label
    }

    /// The node of a process of that name.
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
        let Sums { counts, touched } = &mut self.sums;
        if counts.len() <= node as usize {
            counts.resize(self.nodes.len(), 0);
        }
        let count = &mut counts[node as usize];
        if *count == 0 && instructions > 0 {
            touched.push(node);
        }
        *count += instructions;
    }

    /// Takes all that was counted since the last time, in the order of nodes.
    pub fn take(&mut self) -> Vec<(Node, u64)> {
        let Sums { counts, touched } = &mut self.sums;
        touched.sort_unstable();
        let taken = touched.iter().map(|&node| (node, core::mem::take(&mut counts[node as usize])));
        let taken = taken.collect();
        touched.clear();
        taken
    }

    /// All nodes but the root: parent and label of each.
    pub fn nodes(&self) -> impl Iterator<Item = (Node, Label)> {
        self.nodes.iter().skip(1).map(|node| (node.parent, node.label))
    }
}

#[cfg(test)]
mod tests {
    use super::{CallTree, Label, ROOT};

    #[test]
    fn a_stack_has_one_node_however_often_it_comes() {
        let mut tree = CallTree::new();
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
        let nodes: alloc::vec::Vec<_> = tree.nodes().collect();
        assert_eq!(nodes[0], (ROOT, Label::Process(0)));
        assert_eq!(nodes.len(), 6);
    }

    #[test]
    fn what_was_counted_is_taken_once() {
        let mut tree = CallTree::new();
        let one = tree.process("a");
        let two = tree.child(one, Label::Vdso);
        tree.count(two, 3);
        tree.count(one, 0);
        tree.count(two, 4);
        assert_eq!(tree.take(), [(two, 7)]);
        assert!(tree.take().is_empty());
    }
}
