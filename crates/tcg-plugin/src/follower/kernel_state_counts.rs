//! The instructions counted in the kernel's states, for each base: the call tree's node of the
//! kernel's entry.
//!
//! The base changes with each call from another place and changes back, and the kernel then mostly
//! walks through the same states as the last time. So the counts of a base are kept in the order in
//! which states were entered first, and each is looked for behind the one before it.

use alloc::vec::Vec;

use crate::interner::Interner;
use crate::stacks::call_tree::Node;

/// What was counted in a state for one base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateCount {
    /// The state's number.
    pub state: u32,
    /// How many instructions of its block.
    pub own: u64,
    /// How many of skipped blocks before it.
    pub before: u64,
}

/// What was counted for one base.
#[derive(Default)]
pub struct BaseCounts {
    all: Vec<StateCount>,
    /// The index of each state in the list.
    indices: Interner,
    /// Whether anything was added since the counts were last taken.
    has_any: bool,
}

impl BaseCounts {
    /// Adds what was counted in a state, which is likely at that index of the list. Returns the
    /// likely index of the next one.
    #[inline]
    pub fn add(&mut self, likely: usize, more: StateCount) -> usize {
        let index = match self.all.get(likely) {
            Some(sum) if sum.state == more.state => likely,
            _ => self.index(more.state),
        };
        let sum = &mut self.all[index];
        sum.own += more.own;
        sum.before += more.before;
        index + 1
    }

    /// A state's index in the list.
    fn index(&mut self, state: u32) -> usize {
        let all = &self.all;
        let next = u32::try_from(all.len()).unwrap_or(u32::MAX);
        let index = self.indices.intern(state, next, |one| all[one as usize].state == state);
        if index == next {
            self.all.push(StateCount { state, own: 0, before: 0 });
        }
        index as usize
    }
}

/// What was counted for all bases.
#[derive(Default)]
pub struct StateCounts {
    by_base: Vec<BaseCounts>,
    /// The bases with counts.
    bases: Vec<Node>,
}

impl StateCounts {
    /// A base's counts, to be added to.
    pub fn on(&mut self, base: Node) -> &mut BaseCounts {
        let index = base as usize;
        if self.by_base.len() <= index {
            self.by_base.resize_with(2 * (index + 1), BaseCounts::default);
        }
        let counts = &mut self.by_base[index];
        if !core::mem::replace(&mut counts.has_any, true) {
            self.bases.push(base);
        }
        counts
    }

    /// Takes all counts, each with its base.
    pub fn take(&mut self, mut taken: impl FnMut(Node, StateCount)) {
        for base in self.bases.drain(..) {
            let counts = &mut self.by_base[base as usize];
            counts.has_any = false;
            for sum in counts.all.iter_mut().filter(|sum| sum.own + sum.before > 0) {
                taken(base, *sum);
                (sum.own, sum.before) = (0, 0);
            }
        }
    }

    /// Removes all states.
    pub fn clear(&mut self) {
        self.by_base.clear();
        self.bases.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::{StateCount, StateCounts};
    use crate::stacks::call_tree::Node;
    use alloc::vec::Vec;

    fn taken(counts: &mut StateCounts) -> Vec<(Node, StateCount)> {
        let mut all = Vec::new();
        counts.take(|base, sum| all.push((base, sum)));
        all
    }

    #[test]
    fn whatever_the_order_what_is_counted_is_added_up() {
        let mut counts = StateCounts::default();
        for (base, states) in
            [(7, [4, 2, 9]), (5, [4, 2, 1]), (7, [4, 2, 9]), (7, [9, 3, 2]), (7, [4, 3, 9])]
        {
            let of_base = counts.on(base);
            let mut likely = 0;
            for state in states {
                let more = StateCount { state, own: u64::from(10 * state), before: 1 };
                likely = of_base.add(likely, more);
            }
        }
        let times = |state: u32, times: u64| StateCount {
            state,
            own: u64::from(10 * state) * times,
            before: times,
        };
        let expected: Vec<_> =
            [(7, 4, 3), (7, 2, 3), (7, 9, 4), (7, 3, 2), (5, 4, 1), (5, 2, 1), (5, 1, 1)]
                .into_iter()
                .map(|(base, state, count)| (base, times(state, count)))
                .collect();
        assert_eq!(taken(&mut counts), expected);
        assert!(taken(&mut counts).is_empty());
        counts.on(7).add(0, times(2, 1));
        assert_eq!(taken(&mut counts), [(7, times(2, 1))]);
        counts.clear();
        counts.on(7).add(0, times(9, 1));
        assert_eq!(taken(&mut counts), [(7, times(9, 1))]);
    }
}
