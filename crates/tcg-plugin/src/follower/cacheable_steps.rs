//! Which steps between states are cached: see [`crate::follower::state_graph`].

use crate::code::block_counters::SkippedBetween;
use crate::code::decoder::End;
use crate::follower::state_graph::StateId;
use crate::follower::{Follower, begins_entry};
use crate::symbols::Role;

impl Follower {
    /// Caches the step from a state whose block was executed as a whole, if the next state never
    /// depends on anything else.
    ///
    /// It does for what is noted, for what the guest's memory decides, and for how far an
    /// instruction that failed had come. It also does for blocks skipped before an entry into the
    /// kernel, and where the kernel returns to code of its own. The caller leaves out steps to
    /// another process.
    pub(super) fn cache_step(&mut self, from: StateId, between: SkippedBetween, next: StateId) {
        let (key, to) = (self.on.graph.key(from), self.on.graph.key(next));
        let (previous, block) = (key.block, to.block);
        let is_next = between == SkippedBetween::Nothing;
        if let Some(label) = self.label_before(block).filter(|_| !is_next) {
            self.on.graph.count_before(&mut self.frames, next, label);
        }
        if block.is_noted || previous.is_mark {
            return;
        }
        match (previous.is_kernel(), block.is_kernel()) {
            (true, true) => {
                let leads_on =
                    !matches!(previous.end, End::InterruptReturn | End::UserReturn | End::Trap);
                if leads_on && between != SkippedBetween::Program && !begins_entry(block) {
                    self.on.graph.cache_step(from, is_next, next);
                }
            }
            (true, false) => {
                let kernel_entry = self.on.walk.kernel_entry.get();
                let is_known = key.call_stack.kernel_entry().is_some()
                    && self.frames.is_from_program(kernel_entry);
                let is_settled = key.is_settled() && to.is_settled();
                if is_known && is_settled && self.scheduler_events.is_none() {
                    self.on.graph.cache_return_step(kernel_entry, is_next, next);
                }
            }
            (false, true) => {
                if is_next && !matches!(block.role, Role::Exception | Role::NewTask) {
                    self.on.graph.cache_step(from, true, next);
                    self.on.graph.set_entry(from, self.on.walk.kernel_entry.get());
                }
            }
            (false, false) => {
                if between != SkippedBetween::Kernel {
                    self.on.graph.cache_step(from, is_next, next);
                }
            }
        }
    }
}
