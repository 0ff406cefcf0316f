//! What ran since the last block that was heard of: see [`crate::landings`].
//!
//! All of it is one function's code, that of the block that comes after it. If that begins an
//! exception or an interrupt, it is the code of who goes on there, or of who was called.

use super::{Follower, begins_entry};
use crate::decode::{Block, End};
use crate::frames::Pending;
use crate::symbols::{Role, UNKNOWN, is_kernel};
use crate::tree::Label;

impl Follower {
    /// Goes from a block to unheard ones, of which it is known that `to` comes after them.
    pub(super) fn pass_unheard(&mut self, from: &Block, in_kernel: bool, to: &Block) {
        let pending = Pending { end: from.end, next: from.next };
        let label = if begins_entry(to) { None } else { Some(self.label_ran(to)) };
        match (from.is_kernel(), in_kernel) {
            (true, false) => {
                let named = self.current.announced.name;
                self.current.resume_user(&mut self.frames, None);
                self.rename(named);
                let total = self.walk.total.get();
                self.schedule.iter_mut().for_each(|schedule| schedule.leaves_kernel(total));
            }
            (true, true) if from.end == End::InterruptReturn => {
                self.current.resume_kernel(&mut self.frames, None);
            }
            (false, false) if from.end == End::Indirect => {
                if let Some(label) = label.filter(|&label| self.is_function(label)) {
                    self.current.jump(&self.frames, label);
                }
            }
            _ => self.current.go_on(&mut self.frames, pending, None),
        }
        match (from.end, label) {
            (End::Return, Some(label)) if !from.is_thunk => {
                self.current.settle(&self.frames, label);
            }
            (End::Call | End::On, None) if from.is_kernel() == in_kernel => {
                let label = self.leads_to(from);
                self.current.stand(&mut self.frames, label);
            }
            _ => {}
        }
    }

    /// Counts what unheard blocks executed, which are of one function; `to` comes after them.
    pub(super) fn count_unheard(&mut self, begun: u64, in_kernel: bool, to: &Block) {
        let is_entry = begins_entry(to);
        let label = match self.current.label(&self.frames) {
            Some(label) if is_entry => label,
            _ if !is_entry => self.label_ran(to),
            _ if in_kernel => Label::Kernel(UNKNOWN),
            _ => Label::User(UNKNOWN),
        };
        self.current.stand(&mut self.frames, label);
        // The kernel's code is there, so that the instruction that was begun last has failed. Of a
        // program's it was not counted.
        let executed = begun - u64::from(to.role == Role::Exception && in_kernel);
        self.executes(executed);
        self.current.count(&mut self.frames, executed);
        if is_entry {
            self.current.enter(&mut self.frames, None);
        }
    }

    /// The function of what ran unheard before a block, which is no entry into the kernel.
    fn label_ran(&self, to: &Block) -> Label {
        self.label_before(to).unwrap_or_else(|| self.label(to))
    }

    /// The function of what ran unheard before a block, if that is another one.
    pub(super) fn label_before(&self, to: &Block) -> Option<Label> {
        self.unheard.exits.get(&to.start).map(|&place| self.label_at(place))
    }

    /// The function whose unheard block comes after that block, as far as its code says.
    fn leads_to(&self, block: &Block) -> Label {
        let label = |place| self.unheard.starts.contains(&place).then(|| self.label_at(place));
        let goes_on = block.end == End::On && !block.jumps;
        match (label(block.target), label(block.next).filter(|_| goes_on)) {
            (Some(one), Some(other)) if one == other => one,
            (Some(only), None) | (None, Some(only)) => only,
            _ if block.is_kernel() => Label::Kernel(UNKNOWN),
            _ => Label::User(UNKNOWN),
        }
    }

    /// The function whose code is there.
    pub(super) fn label_at(&self, place: u64) -> Label {
        if is_kernel(place) {
            Label::Kernel(self.symbols.kernel(place))
        } else if self.symbols.is_vdso(place) {
            Label::Vdso
        } else {
            Label::User(self.symbols.program(self.name(), place))
        }
    }

    /// Whether that is a program's function by itself.
    pub(super) fn is_function(&self, label: Label) -> bool {
        matches!(label, Label::User(name) if self.symbols.is_function(name))
    }
}
