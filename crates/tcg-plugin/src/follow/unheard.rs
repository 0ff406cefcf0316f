//! What ran since the last block that was heard of: see [`crate::landings`].
//!
//! All of it is one function's code, that of the block that comes after it. If that begins an
//! exception or an interrupt, it is the code of who goes on there.

use super::{Follower, begins_entry};
use crate::context::Pending;
use crate::decode::{Block, End};
use crate::symbols::{Role, UNKNOWN};
use crate::tree::Label;

impl Follower {
    /// Goes from a block to unheard ones, of which it is known that `to` comes after them.
    pub(super) fn pass_unheard(&mut self, from: &Block, in_kernel: bool, to: &Block) {
        let pending = Pending { end: from.end, next: from.next };
        let label = if begins_entry(to) { None } else { Some(self.label(to)) };
        match (from.is_kernel(), in_kernel) {
            (true, false) => {
                let named = self.current.announced.name;
                self.current.resume_user(None);
                self.rename(named);
                self.schedule.iter_mut().for_each(|schedule| schedule.leaves_kernel(self.total));
            }
            (true, true) if from.end == End::InterruptReturn => self.current.resume_kernel(None),
            (false, false) if from.end == End::Indirect => {
                if let Some(label) = label.filter(|&label| self.is_function(label)) {
                    self.current.jump(&self.tree, label);
                }
            }
            _ => self.current.go_on(pending, None),
        }
        if let Some(label) = label.filter(|_| from.end == End::Return) {
            self.current.settle(&self.tree, label);
        }
    }

    /// Counts what unheard blocks executed, which are of one function; `to` comes after them.
    pub(super) fn count_unheard(&mut self, begun: u64, in_kernel: bool, to: &Block) {
        let is_entry = begins_entry(to);
        let label = match self.current.label(&self.tree) {
            Some(label) if is_entry => label,
            _ if !is_entry => self.label(to),
            _ if in_kernel => Label::Kernel(UNKNOWN),
            _ => Label::User(UNKNOWN),
        };
        let node = self.current.stand(&mut self.tree, label);
        // The instruction that was begun last has failed, and what comes behind it was there.
        self.add(node, begun - u64::from(to.role == Role::Exception));
        if is_entry {
            self.current.enter(None);
        }
    }

    /// Whether that is a program's function by itself.
    pub(super) fn is_function(&self, label: Label) -> bool {
        matches!(label, Label::User(name) if self.symbols.is_function(name))
    }
}
