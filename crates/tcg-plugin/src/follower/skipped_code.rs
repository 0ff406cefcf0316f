//! What ran in skipped blocks since the last callback: see [`crate::code::skipped_blocks`].
//!
//! All of it is code of one function: that of the next block. If the next block begins an exception
//! or an interrupt, it is code of the interrupted function, or of a function that it had called.

use crate::code::block::Block;
use crate::code::decoder::End;
use crate::follower::{Follower, begins_entry};
use crate::stacks::call_tree::Label;
use crate::stacks::frames::Pending;
use crate::symbols::{Role, UNKNOWN, is_kernel};

impl Follower {
    /// Changes the stack from a block to skipped ones; `to` comes after these.
    pub(super) fn pass_skipped(&mut self, from: &Block, in_kernel: bool, to: &Block) {
        let pending = Pending { end: from.end, next: from.next };
        let label = if begins_entry(to) { None } else { Some(self.skipped_label(to)) };
        match (from.is_kernel(), in_kernel) {
            (true, false) => {
                let named = self.on.current.announced.name;
                self.on.current.resume_user(&mut self.frames, None);
                self.rename(named);
                let total = self.on.walk.total.get();
                self.scheduler_events.iter_mut().for_each(|events| events.leaves_kernel(total));
            }
            (true, true) if from.end == End::InterruptReturn => {
                self.on.current.resume_kernel(&mut self.frames, None);
            }
            (false, false) if from.end == End::Indirect => {
                if let Some(label) = label.filter(|&label| self.is_function(label)) {
                    self.on.current.jump(&self.frames, label);
                }
            }
            _ => self.on.current.go_on(&mut self.frames, pending, None),
        }
        match (from.end, label) {
            (End::Return, Some(label)) if !from.is_thunk => {
                self.on.current.settle_return(&self.frames, label);
            }
            (End::Call | End::On, None) if from.is_kernel() == in_kernel => {
                let label = self.leads_to(from);
                self.on.current.set_function(&mut self.frames, label);
            }
            _ => {}
        }
    }

    /// Counts the instructions of skipped blocks, which are of one function; `to` comes after them.
    pub(super) fn count_skipped(&mut self, begun: u64, in_kernel: bool, to: &Block) {
        let is_entry = begins_entry(to);
        let label = match self.on.current.label(&self.frames) {
            Some(label) if is_entry => label,
            _ if !is_entry => self.skipped_label(to),
            _ if in_kernel => Label::Kernel(UNKNOWN),
            _ => Label::User(UNKNOWN),
        };
        self.on.current.set_function(&mut self.frames, label);
        // The kernel's code is always mapped, so the instruction that began last has failed. A
        // program's was not counted.
        let executed = begun - u64::from(to.role == Role::Exception && in_kernel);
        self.executes(executed);
        self.on.current.count(&mut self.frames, executed);
        if is_entry {
            self.on.current.enter(&mut self.frames, None);
        }
    }

    /// The function of the skipped blocks before a block that is no entry into the kernel.
    fn skipped_label(&self, to: &Block) -> Label {
        self.label_before(to).unwrap_or_else(|| self.label(to))
    }

    /// The function of the skipped blocks before a block, if it is not the block's own.
    pub(super) fn label_before(&self, to: &Block) -> Option<Label> {
        self.skipped.exits.get(&to.start).map(|&address| self.label_at(address))
    }

    /// The function of the skipped block after a block, as far as the code shows.
    fn leads_to(&self, block: &Block) -> Label {
        let label =
            |address| self.skipped.starts.contains(&address).then(|| self.label_at(address));
        let goes_on = block.end == End::On && !block.jumps;
        match (label(block.target), label(block.next).filter(|_| goes_on)) {
            (Some(one), Some(other)) if one == other => one,
            (Some(only), None) | (None, Some(only)) => only,
            _ if block.is_kernel() => Label::Kernel(UNKNOWN),
            _ => Label::User(UNKNOWN),
        }
    }

    /// The function of the code at an address.
    pub(super) fn label_at(&self, address: u64) -> Label {
        if is_kernel(address) {
            Label::Kernel(self.symbols.kernel(address))
        } else if self.symbols.is_vdso(address) {
            Label::Vdso
        } else {
            Label::User(self.symbols.program(self.name(), address))
        }
    }

    /// Whether a label is a program's function, not a file with many.
    pub(super) fn is_function(&self, label: Label) -> bool {
        matches!(label, Label::User(name) if self.symbols.is_function(name))
    }
}
