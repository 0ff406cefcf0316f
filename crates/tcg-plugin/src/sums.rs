//! What was counted in states of the kernel, by the base that they stood on.
//!
//! The kernel goes from one base to another with each call from another place, and comes back; mostly
//! it then walks through the same states as the last time. So what a base has is kept in the order in
//! which it was entered first, and each is looked for behind the one before it.

use alloc::vec::Vec;

use crate::numbers::Numbers;
use crate::tree::Node;

/// What was counted in a state on one base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sum {
    /// The state's number.
    pub state: u32,
    /// How many instructions of its block.
    pub own: u64,
    /// How many that ran unheard before it.
    pub before: u64,
}

/// What was counted on one base.
#[derive(Default)]
pub struct Sums {
    all: Vec<Sum>,
    /// Where in that list each is.
    places: Numbers,
    /// Whether anything was added since it was last taken.
    has_any: bool,
}

impl Sums {
    /// Adds what was counted in a state, which is likely at that place of the list. Returns where the
    /// next one likely is.
    #[inline]
    pub fn add(&mut self, likely: usize, more: Sum) -> usize {
        let place = match self.all.get(likely) {
            Some(sum) if sum.state == more.state => likely,
            _ => self.place(more.state),
        };
        let sum = &mut self.all[place];
        sum.own += more.own;
        sum.before += more.before;
        place + 1
    }

    /// Where a state is in the list.
    fn place(&mut self, state: u32) -> usize {
        let all = &self.all;
        let next = u32::try_from(all.len()).unwrap_or(u32::MAX);
        let place = self.places.number(state, next, |one| all[one as usize].state == state);
        if place == next {
            self.all.push(Sum { state, own: 0, before: 0 });
        }
        place as usize
    }
}

/// What was counted on all bases.
#[derive(Default)]
pub struct AllSums {
    by_base: Vec<Sums>,
    /// The bases on which anything was.
    bases: Vec<Node>,
}

impl AllSums {
    /// What was counted on a base, where something is to be added.
    pub fn on(&mut self, base: Node) -> &mut Sums {
        let index = base as usize;
        if self.by_base.len() <= index {
            self.by_base.resize_with(2 * (index + 1), Sums::default);
        }
        let sums = &mut self.by_base[index];
        if !core::mem::replace(&mut sums.has_any, true) {
            self.bases.push(base);
        }
        sums
    }

    /// Takes all of it, each with its base.
    pub fn take(&mut self, mut taken: impl FnMut(Node, Sum)) {
        for base in self.bases.drain(..) {
            let sums = &mut self.by_base[base as usize];
            sums.has_any = false;
            for sum in sums.all.iter_mut().filter(|sum| sum.own + sum.before > 0) {
                taken(base, *sum);
                (sum.own, sum.before) = (0, 0);
            }
        }
    }

    /// Forgets which states there were.
    pub fn forget(&mut self) {
        self.by_base.clear();
        self.bases.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::{AllSums, Sum};
    use crate::tree::Node;
    use alloc::vec::Vec;

    fn taken(sums: &mut AllSums) -> Vec<(Node, Sum)> {
        let mut all = Vec::new();
        sums.take(|base, sum| all.push((base, sum)));
        all
    }

    #[test]
    fn whatever_the_order_what_is_counted_is_added_up() {
        let mut sums = AllSums::default();
        for (base, states) in
            [(7, [4, 2, 9]), (5, [4, 2, 1]), (7, [4, 2, 9]), (7, [9, 3, 2]), (7, [4, 3, 9])]
        {
            let of_base = sums.on(base);
            let mut likely = 0;
            for state in states {
                let more = Sum { state, own: u64::from(10 * state), before: 1 };
                likely = of_base.add(likely, more);
            }
        }
        let times = |state: u32, times: u64| Sum {
            state,
            own: u64::from(10 * state) * times,
            before: times,
        };
        let expected: Vec<_> =
            [(7, 4, 3), (7, 2, 3), (7, 9, 4), (7, 3, 2), (5, 4, 1), (5, 2, 1), (5, 1, 1)]
                .into_iter()
                .map(|(base, state, count)| (base, times(state, count)))
                .collect();
        assert_eq!(taken(&mut sums), expected);
        assert!(taken(&mut sums).is_empty());
        sums.on(7).add(0, times(2, 1));
        assert_eq!(taken(&mut sums), [(7, times(2, 1))]);
        sums.forget();
        sums.on(7).add(0, times(9, 1));
        assert_eq!(taken(&mut sums), [(7, times(9, 1))]);
    }
}
