//! One of the guest's processors, and whose turn it is.
//!
//! QEMU executes several processors in turns. Each has a walk of its own, while processes, their
//! stacks and the call tree are common to all. So are the counters. Which processor executes a block
//! is asked at its begin, and no block is skipped. A turn ends between two blocks.
//!
//! A window begins and ends on one processor, and counts what all execute meanwhile. The others are
//! followed from the next block that they begin.

use crate::code::block::Block;
use crate::code::block_counters::CounterDeltas;
use crate::follower::state_graph::{StateGraph, StateId, StateWalk};
use crate::stacks::call_stack::CallStack;
use crate::stacks::call_tree::Sums;
use alloc::boxed::Box;

/// What is followed of a processor.
pub struct Processor {
    /// Its number, from 0.
    pub number: usize,
    pub(super) walk: &'static StateWalk,
    pub(super) graph: StateGraph,
    /// The current state, or the last one that was looked up; `None` outside of windows.
    pub(super) at: Option<StateId>,
    pub(super) current: CallStack,
    /// The address of the running process's stack in the kernel; 0: not known yet.
    pub(super) stack: u64,
    /// The address of the next process's stack, from its first use to the moment when that process
    /// resumes.
    pub(super) next_stack: Option<u64>,
    /// Outside of windows: the running block, if it reads the clock.
    pub(super) reading: Option<&'static Block>,
    /// Whether no block has begun since a window did.
    pub(super) joins: bool,
    /// What it had executed of its last block when its turn ended.
    pub(super) away: CounterDeltas,
    /// What its functions executed, while it is not its turn.
    pub(super) sums: Sums,
}

impl Processor {
    /// A processor of which nothing is known.
    pub fn new(number: usize, walk: &'static StateWalk) -> Self {
        Self {
            number,
            walk,
            graph: StateGraph::new(walk),
            at: None,
            current: CallStack::default(),
            stack: 0,
            next_stack: None,
            reading: None,
            joins: false,
            away: CounterDeltas::default(),
            sums: Sums::default(),
        }
    }

    /// The state of its last block; `None` outside of windows.
    pub(super) fn state(&self) -> Option<StateId> {
        self.graph.at().or(self.at)
    }

    /// A window begins, or ends: nothing is known.
    pub(super) fn forget(&mut self, joins: bool) {
        self.at = None;
        self.graph.set_current(None);
        self.stack = 0;
        self.next_stack = None;
        self.joins = joins;
        self.away = CounterDeltas::default();
        self.walk.total.set(0);
        self.walk.is_outside_window.set(false);
    }
}

/// So many processors, but for the first, whose turn it is.
pub fn resting(walks: &'static [StateWalk]) -> impl Iterator<Item = Option<Box<Processor>>> {
    walks
        .iter()
        .enumerate()
        .map(|(number, walk)| (number > 0).then(|| Box::new(Processor::new(number, walk))))
}
