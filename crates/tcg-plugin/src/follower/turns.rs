//! Whose turn it is among the processors, and what they count in a window that another one begins or
//! ends.

use core::mem;

use crate::code::block::Block;
use crate::code::block_counters::CounterDeltas;
use crate::follower::Follower;
use crate::stacks::call_stack::CallStack;

impl Follower {
    /// QEMU executes another processor from here on.
    pub fn turn_to(&mut self, processor: usize) {
        self.on.away = self.on.walk.counters.deltas();
        self.end_reading();
        self.look_at(processor);
        self.on.walk.counters.resume(self.on.away);
    }

    /// Has a processor's state at hand.
    pub(super) fn look_at(&mut self, processor: usize) {
        let Some(next) = self.resting.get_mut(processor).and_then(Option::take) else { return };
        let mut last = mem::replace(&mut self.on, next);
        last.sums = mem::replace(&mut self.frames.whole.sums, mem::take(&mut self.on.sums));
        let number = last.number;
        self.resting[number] = Some(last);
    }

    /// If the turn ends right after the clock was read, a window has begun or ended there.
    fn end_reading(&mut self) {
        let state = self.on.state();
        let block = match state {
            Some(state) => Some(self.on.graph.key(state).block).filter(|block| block.is_reading),
            None => self.on.reading,
        };
        let Some(block) = block.filter(|block| self.on.away.begun() >= block.count.into()) else {
            return;
        };
        self.on.away = CounterDeltas::default();
        self.on.reading = None;
        self.readings += 1;
        if let Some(state) = state {
            self.executes(block.count.into());
            self.on.graph.visit(state);
            self.end_window();
        } else if self.begins_window() {
            self.begin_window();
        }
    }

    /// The first block of a processor in a window.
    pub(super) fn join(&mut self, deltas: CounterDeltas, block: &'static Block) {
        self.on.joins = false;
        self.on.current = CallStack::of(self.process());
        if deltas.begun() > 0 {
            self.count_skipped(deltas.begun(), deltas.kernel > 0, block);
        }
        self.begin_block(block);
    }

    /// Another processor ends a window: this one's last block, after which its turn ended, counts.
    pub(super) fn count_last(&mut self) {
        let Some(state) = self.on.state() else { return };
        let key = self.on.graph.key(state);
        let entry = self.on.walk.kernel_entry.get();
        self.on.current = key.call_stack.with_entry(&self.frames, entry);
        let whole = self.on.away.begun() >= key.block.count.into();
        let begun = u16::try_from(self.on.away.begun()).unwrap_or(u16::MAX);
        let executed = key.block.count.min(begun);
        self.executes(executed.into());
        if whole {
            self.on.graph.visit(state);
        }
        self.on.current.run(&mut self.frames, key.block, executed, u64::from(!whole));
    }
}
