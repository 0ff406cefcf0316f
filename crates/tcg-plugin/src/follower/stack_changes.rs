//! How the call stack changes from one block with a callback to the next.

use crate::code::block::Block;
use crate::code::block_counters::Executed;
use crate::code::decoder::End;
use crate::follower::{Follower, begins_entry};
use crate::stacks::frames::Pending;

impl Follower {
    /// Changes the stack from one block to the next.
    pub(super) fn pass(&mut self, from: &Block, executed: Executed, to: &Block) {
        let pending = Pending { end: from.end, next: from.next };
        let had_ended = Some(pending).filter(|_| executed.is_whole && from.end != End::Trap);
        if self.is_process_switch(to) {
            self.switch_process(to.role);
            return;
        }
        match (from.is_kernel(), to.is_kernel()) {
            (false, true) => self.on.current.enter(&mut self.frames, had_ended),
            (true, false) => {
                let named = self.on.current.announced.name;
                self.on.current.resume_user(&mut self.frames, Some(to.start));
                self.rename(named);
                if let Some(events) = &mut self.scheduler_events {
                    events.leaves_kernel(self.on.walk.total.get());
                }
            }
            (true, true) if is_entry(from, executed, to) => {
                if matches!(from.end, End::InterruptReturn | End::UserReturn) {
                    let named = self.on.current.announced.name;
                    self.on.current.enter_again(&mut self.frames);
                    self.rename(named);
                } else {
                    self.on.current.enter(&mut self.frames, had_ended);
                }
            }
            _ if !executed.is_whole => {}
            (true, true) if from.end == End::InterruptReturn && to.start != from.next => {
                self.on.current.resume_kernel(&mut self.frames, Some(to.start));
            }
            (false, false) if from.end == End::Indirect => self.jump(to),
            _ => self.on.current.go_on(&mut self.frames, pending, Some(to.start)),
        }
    }

    /// A program jumps to an address from memory.
    fn jump(&mut self, to: &Block) {
        let label = self.label(to);
        if self.is_function(label) && !self.symbols.begins(self.name(), to.start) {
            self.on.current.jump(&self.frames, label);
        }
    }

    /// The process may have another name.
    pub(super) fn rename(&mut self, is_named: bool) {
        if is_named {
            let process = self.process();
            self.on.current.rename(&mut self.frames, process);
        }
    }
}

/// Whether a block begins an exception or an interrupt of the kernel's own code.
fn is_entry(from: &Block, executed: Executed, to: &Block) -> bool {
    let leads_there = executed.is_whole && from.target == to.start;
    begins_entry(to) && !leads_there
}
