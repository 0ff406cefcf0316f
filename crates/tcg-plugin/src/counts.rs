//! What was counted, before it is added up in the whole tree.
//!
//! The kernel goes from one base to another with each call from another place, and comes back. So what
//! is counted is gathered while the base stays, and then added to what was counted above that base
//! before: where in the whole tree each of it stands is asked once, at the end of a window.

use alloc::vec::Vec;

use crate::tree::{Node, ROOT};

/// Instructions by their place, of one base.
#[derive(Default)]
struct Gathered {
    counts: Vec<u64>,
    nodes: Vec<Node>,
}

impl Gathered {
    fn add(&mut self, node: Node, instructions: u64) {
        let index = node as usize;
        if self.counts.len() <= index {
            self.counts.resize(2 * (index + 1), 0);
        }
        let count = &mut self.counts[index];
        if *count == 0 {
            self.nodes.push(node);
        }
        *count += instructions;
    }

    /// Takes all of it, in the order of places.
    fn take(&mut self) -> impl Iterator<Item = (Node, u64)> {
        self.nodes.sort_unstable();
        let counts = &mut self.counts;
        self.nodes.drain(..).map(|node| (node, core::mem::take(&mut counts[node as usize])))
    }
}

/// Instructions by base, and by the place above it.
#[derive(Default)]
pub struct Counts {
    /// Of what begins at the root.
    whole: Gathered,
    /// Of what begins at the base where what was counted last does.
    latest: Gathered,
    base: Node,
    /// For each base what was counted above it before, in the order of places.
    above: Vec<Vec<(Node, u64)>>,
    /// The bases of which there is any.
    bases: Vec<Node>,
}

impl Counts {
    /// Adds so many instructions, but not none, to a place above a base.
    pub fn add(&mut self, base: Node, node: Node, instructions: u64) {
        if base == ROOT {
            self.whole.add(node, instructions);
            return;
        }
        if base != self.base {
            self.put_away();
            self.base = base;
        }
        self.latest.add(node, instructions);
    }

    fn put_away(&mut self) {
        let index = self.base as usize;
        if self.above.len() <= index {
            self.above.resize_with(2 * (index + 1), Vec::new);
        }
        let known = &mut self.above[index];
        if known.is_empty() && !self.latest.nodes.is_empty() {
            self.bases.push(self.base);
        }
        let mut from = 0;
        for (node, count) in self.latest.take() {
            match known[from..].binary_search_by_key(&node, |&(other, _)| other) {
                Ok(found) => {
                    from += found;
                    known[from].1 += count;
                }
                Err(place) => {
                    from += place;
                    known.insert(from, (node, count));
                }
            }
            from += 1;
        }
    }

    /// Takes all of it: the base, the place above it, and how many instructions.
    pub fn take(&mut self) -> Vec<(Node, Node, u64)> {
        self.put_away();
        let mut all: Vec<_> = self.whole.take().map(|(node, count)| (ROOT, node, count)).collect();
        for base in self.bases.drain(..) {
            let known = self.above[base as usize].drain(..);
            all.extend(known.map(|(node, count)| (base, node, count)));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::Counts;
    use crate::tree::ROOT;

    #[test]
    fn what_is_counted_is_taken_once_by_its_base() {
        let mut counts = Counts::default();
        for (base, node, count) in [
            (7, 3, 1),
            (7, 2, 5),
            (ROOT, 9, 4),
            (7, 3, 1),
            (5, 3, 8),
            (7, 4, 6),
            (7, 2, 1),
            (7, 1, 2),
        ] {
            counts.add(base, node, count);
        }
        let expected = [(ROOT, 9, 4), (7, 1, 2), (7, 2, 6), (7, 3, 2), (7, 4, 6), (5, 3, 8)];
        assert_eq!(counts.take(), expected);
        assert!(counts.take().is_empty());
        counts.add(5, 3, 1);
        assert_eq!(counts.take(), [(5, 3, 1)]);
    }
}
