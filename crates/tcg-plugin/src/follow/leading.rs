//! Which steps are remembered: see [`crate::states`].

use super::{Follower, begins_entry};
use crate::decode::End;
use crate::progress::Between;
use crate::states::Number;
use crate::symbols::Role;

impl Follower {
    /// Has a state come after one that was executed as a whole, if it always does where its block
    /// begins after that which ran unheard.
    ///
    /// What is noted, what depends on what the guest has in memory, and how far an instruction came
    /// that failed, has to be looked at each time. So has what ran unheard before the kernel was
    /// entered, and what the kernel goes back to in itself. Whoever asks leaves out steps to another
    /// process.
    pub(super) fn lead(&mut self, from: Number, between: Between, next: Number) {
        let (place, to) = (self.states.place(from), self.states.place(next));
        let (previous, block) = (place.block, to.block);
        let is_next = between == Between::Nothing;
        if let Some(label) = self.label_before(block).filter(|_| !is_next) {
            self.states.count_before(&mut self.frames, next, label);
        }
        if block.is_noted || previous.is_mark {
            return;
        }
        match (previous.is_kernel(), block.is_kernel()) {
            (true, true) => {
                let leads_on =
                    !matches!(previous.end, End::InterruptReturn | End::UserReturn | End::Trap);
                if leads_on && between != Between::Program && !begins_entry(block) {
                    self.states.lead(from, is_next, next);
                }
            }
            (true, false) => {
                let floor = self.walk.floor.get();
                let is_known = place.context.floor().is_some() && self.frames.is_lowest(floor);
                let is_settled = place.is_settled() && to.is_settled();
                if is_known && is_settled && self.schedule.is_none() {
                    self.states.lead_back(floor, is_next, next);
                }
            }
            (false, true) => {
                if is_next && !matches!(block.role, Role::Exception | Role::NewTask) {
                    self.states.lead(from, true, next);
                    self.states.enter(from, self.walk.floor.get());
                }
            }
            (false, false) => {
                if between != Between::Kernel {
                    self.states.lead(from, is_next, next);
                }
            }
        }
    }
}
