//! The state graph: which functions run once a block has begun, worked out once and remembered.
//!
//! A state is a block and the call stack that it runs under. In nearly all cases nothing but the
//! state and the next block decides the next state. So states form a graph whose edges are blocks,
//! and following a guest is a walk in it. A step reads 32 bytes for each state: whatever it evicts
//! from the processor's caches, QEMU has to fetch again.
//!
//! The kernel's states do not depend on who called it. The walk keeps the entry into the kernel
//! beside the state. What was counted in these states is added up before the entry's base in the
//! call tree changes. Where the kernel returns to is kept with the entry.

use alloc::vec;
use alloc::vec::Vec;
use core::cell::Cell;
use core::ptr;

use crate::code::block::{Block, BlockNumber};
use crate::code::block_counters::BlockCounters;
use crate::follower::kernel_state_counts::{StateCount, StateCounts};
use crate::interner::Interner;
use crate::stacks::call_stack::{Announced, CallStack};
use crate::stacks::call_tree::{Label, Node, ROOT};
use crate::stacks::frames::{Frames, KernelEntry, NO_ENTRY};

/// A state, by its number. No state has number 0.
pub type StateId = u32;

/// A block that comes next, and whether skipped blocks ran before it. 0 is none.
type Step = u32;

/// How many steps each state holds, and how many further steps all states share.
const AT_HAND: usize = 2;
const CACHED_STEPS: usize = 1 << 15; // see `slot`
/// The most states that are kept.
const MOST: usize = 1 << 20;

/// A state, a step from it, and the state after that step.
type CachedStep = (StateId, Step, StateId);

/// What a step reads and writes of a state.
#[repr(C, align(32))]
struct State {
    next: [Cell<(Step, StateId)>; AT_HAND],
    /// How many instructions of skipped blocks ran before its block since the last flush.
    before: Cell<u64>,
    /// 1 and how often its block was executed as a whole since the last flush; 0: not entered
    /// since. It is flushed before this gets negative.
    visits: Cell<i32>,
    /// How many instructions the block has.
    count: u16,
    side: Side,
    oldest: Cell<bool>,
}

/// What a step has to do in a state.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    /// The kernel runs, and the entry is known.
    Kernel,
    /// Any other, and it matters how many accesses to memory its last instruction makes.
    Watched,
    /// Any other.
    Other,
}

/// What a step reads of an entry into the kernel.
#[derive(Clone, Default)]
struct EntrySteps {
    /// Where the kernel returns to a program.
    back: [Cell<(Step, StateId)>; AT_HAND],
    oldest: Cell<bool>,
    /// The node of the call tree below which the functions called since the entry are.
    base: Node,
}

/// The numbers of states, in a list that has room for all.
struct EnteredStates {
    list: Cell<*mut StateId>,
    count: Cell<usize>,
}

impl EnteredStates {
    const fn new() -> Self {
        Self { list: Cell::new(ptr::null_mut()), count: Cell::new(0) }
    }

    #[inline]
    fn add(&self, number: StateId) {
        let count = self.count.get();
        // SAFETY: there is room for all states, and each is added once.
        unsafe { self.list.get().add(count).write(number) };
        self.count.set(count + 1);
    }
}

/// What a state stands for: a block, and the functions that it runs under.
#[derive(Clone, Copy)]
pub struct StateKey {
    /// The block.
    pub block: &'static Block,
    /// The stack; in the kernel, without its entry.
    pub call_stack: CallStack,
}

impl StateKey {
    /// Whether the kernel has announced nothing that has an effect later.
    pub fn is_settled(&self) -> bool {
        self.call_stack.announced == Announced::default()
    }
}

/// The current state. This does what is done for each block.
pub struct StateWalk {
    at: Cell<*const State>,
    /// Whether only blocks matter that read the clock.
    pub is_outside_window: Cell<bool>,
    /// The states, and the steps that all states share.
    states: Cell<*const State>,
    cached_steps: Cell<*const CachedStep>,
    /// The last entry into the kernel, and its node of the call tree. The kernel's states are
    /// flushed before the node changes.
    pub kernel_entry: Cell<KernelEntry>,
    base: Cell<Node>,
    /// For each state the entry that it makes if it enters the kernel, as far as known; and each
    /// entry's steps.
    entries: Cell<*const Cell<KernelEntry>>,
    entry_steps: Cell<*const EntrySteps>,
    /// The states entered since the last flush: the kernel's, and others.
    entered: [EnteredStates; 2],
    /// The counters of the guest's code.
    pub counters: BlockCounters,
    /// How many instructions were executed in this window.
    pub total: Cell<u64>,
}

// SAFETY: one thread at a time calls the plugin.
unsafe impl Sync for StateWalk {}

impl StateWalk {
    /// No state yet.
    pub const fn new() -> Self {
        Self {
            at: Cell::new(ptr::null()),
            is_outside_window: Cell::new(false),
            states: Cell::new(ptr::null()),
            cached_steps: Cell::new(ptr::null()),
            kernel_entry: Cell::new(NO_ENTRY),
            base: Cell::new(ROOT),
            entries: Cell::new(ptr::null()),
            entry_steps: Cell::new(ptr::null()),
            entered: [const { EnteredStates::new() }; 2],
            counters: BlockCounters::new(),
            total: Cell::new(0),
        }
    }

    /// A block of the kernel begins. Whether the next state is known, which is the current one
    /// then.
    #[inline]
    pub fn steps_in_kernel(&self, block: BlockNumber) -> bool {
        // SAFETY: a state stays where it is while it is the current one.
        let Some(from) = (unsafe { self.at.get().as_ref() }) else {
            return self.is_outside_window.get();
        };
        self.steps::<true>(from, block)
    }

    /// The same for a block of a program that does not read the clock of a window.
    #[inline]
    pub fn steps_in_program(&self, block: BlockNumber) -> bool {
        // SAFETY: as above.
        let Some(from) = (unsafe { self.at.get().as_ref() }) else {
            return self.is_outside_window.get();
        };
        self.steps::<false>(from, block)
    }

    #[inline]
    fn steps<const TO_KERNEL: bool>(&self, from: &State, block: BlockNumber) -> bool {
        let begun = self.counters.begun();
        let count = u64::from(from.count);
        let step = block | Step::from(begun != count);
        let leaves = !TO_KERNEL && from.side == Side::Kernel;
        let nexts = if leaves { self.back() } else { &from.next };
        let number = match nexts.each_ref().map(Cell::get) {
            [(known, next), _] | [_, (known, next)] if known == step => next,
            _ if leaves => return false,
            _ => match self.cached_steps(from, step) {
                Some(next) => next,
                None => return false,
            },
        };
        let next = self.state(number);
        if begun < count || next.visits.get() < 0 {
            return false;
        }
        if TO_KERNEL && from.side != next.side && !self.enters_kernel(from) {
            return false;
        }
        self.mark_entered(number, next);
        self.total.set(self.total.get() + begun);
        from.visits.set(from.visits.get() + 1);
        if begun != count {
            next.before.set(next.before.get() + begun - count);
        }
        self.at.set(next);
        self.counters.clear(next.side == Side::Watched);
        true
    }

    /// Where the kernel returns to from its entry.
    #[inline]
    fn back(&self) -> &'static [Cell<(Step, StateId)>; AT_HAND] {
        // SAFETY: each entry that was the last one has steps.
        unsafe { &(*self.entry_steps.get().add(self.kernel_entry.get() as usize)).back }
    }

    /// The kernel is entered from a state. Whether the entry's node is that of the last entry; if
    /// so, this is the last entry now.
    #[inline]
    fn enters_kernel(&self, from: &State) -> bool {
        // SAFETY: there is one for each state, and steps for each entry that was the last one.
        let kernel_entry = unsafe { (*self.entries.get().add(self.number(from) as usize)).get() };
        // SAFETY: as above.
        let is_alike =
            unsafe { (*self.entry_steps.get().add(kernel_entry as usize)).base } == self.base.get();
        if is_alike {
            self.kernel_entry.set(kernel_entry);
        }
        is_alike
    }

    /// Notes that a state is entered.
    #[inline]
    fn mark_entered(&self, number: StateId, state: &State) {
        if state.visits.get() == 0 {
            state.visits.set(1);
            self.entered[usize::from(state.side == Side::Kernel)].add(number);
        }
    }

    #[inline]
    fn state(&self, number: StateId) -> &'static State {
        // SAFETY: a state stays where it is while steps lead to it.
        unsafe { &*self.states.get().add(number as usize) }
    }

    /// Where a step leads that the state itself does not hold.
    #[inline]
    fn cached_steps(&self, from: &State, step: Step) -> Option<StateId> {
        let number = self.number(from);
        // SAFETY: a slot is less than the length of the list.
        let (state, known, next) = unsafe { *self.cached_steps.get().add(slot(number, step)) };
        (state == number && known == step).then_some(next)
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation, reason = "there are at most `MOST`")]
    fn number(&self, state: *const State) -> StateId {
        let far = state.addr() - self.states.get().addr();
        (far / size_of::<State>()) as StateId
    }
}

/// All states.
pub struct StateGraph {
    walk: &'static StateWalk,
    all: Vec<State>,
    keys: Vec<StateKey>,
    interner: Interner,
    cached_steps: Vec<CachedStep>,
    /// For each state the node of its function, `None` if its block has several; and the node of
    /// the function that skipped blocks before it belong to.
    nodes: Vec<(Option<Node>, Node)>,
    entries: Vec<Cell<KernelEntry>>,
    entry_steps: Vec<EntrySteps>,
    entered: [Vec<StateId>; 2],
    /// What was counted in states before the last flush.
    state_counts: StateCounts,
}

impl StateGraph {
    /// None yet.
    pub fn new(walk: &'static StateWalk) -> Self {
        let all = Vec::with_capacity(MOST + 1);
        walk.states.set(all.as_ptr());
        let cached_steps = vec![(0, 0, 0); CACHED_STEPS];
        walk.cached_steps.set(cached_steps.as_ptr());
        let entered = [&walk.entered[0], &walk.entered[1]].map(|entered| {
            let mut list = Vec::with_capacity(MOST + 1);
            entered.list.set(list.as_mut_ptr());
            list
        });
        let (keys, interner) = (Vec::new(), Interner::default());
        let entries = Vec::with_capacity(MOST + 1);
        walk.entries.set(entries.as_ptr());
        // Nothing returns by no entry, and nothing counted is below its node.
        let entry_steps = Vec::from([EntrySteps { base: Node::MAX, ..EntrySteps::default() }]);
        walk.entry_steps.set(entry_steps.as_ptr());
        let (nodes, state_counts) = (Vec::new(), StateCounts::default());
        Self {
            walk,
            all,
            keys,
            interner,
            cached_steps,
            nodes,
            entries,
            entry_steps,
            entered,
            state_counts,
        }
    }

    /// What a state stands for.
    pub fn key(&self, number: StateId) -> StateKey {
        self.keys[number as usize]
    }

    /// The state of a block and a call stack.
    pub fn state(
        &mut self,
        frames: &Frames,
        call_stack: CallStack,
        block: &'static Block,
    ) -> StateId {
        let call_stack = call_stack.with_any_entry();
        if self.all.is_empty() {
            self.make(frames, call_stack, block); // of number 0, which is no state
        }
        let next = StateId::try_from(self.all.len()).unwrap_or(StateId::MAX);
        let keys = &self.keys;
        let number = self.interner.intern((call_stack, block.number), next, |one| {
            let key = &keys[one as usize];
            key.block.number == block.number && key.call_stack == call_stack
        });
        if number == next {
            self.make(frames, call_stack, block);
        }
        self.walk.mark_entered(number, &self.all[number as usize]);
        number
    }

    fn make(&mut self, frames: &Frames, call_stack: CallStack, block: &'static Block) {
        let accesses = block.last_may_fail.is_some_and(|accesses| accesses > 0);
        // There is room for all, so that they stay where they are.
        self.all.push(State {
            next: [const { Cell::new((0, 0)) }; AT_HAND],
            before: Cell::new(0),
            visits: Cell::new(0),
            count: block.count,
            side: match call_stack.kernel_entry() {
                Some(_) => Side::Kernel,
                None if !block.is_kernel() && accesses => Side::Watched,
                None => Side::Other,
            },
            oldest: Cell::new(false),
        });
        self.entries.push(Cell::new(NO_ENTRY));
        let node = call_stack.node(frames);
        self.nodes.push(((block.parts.len() < 2).then_some(node), node));
        self.keys.push(StateKey { block, call_stack });
    }

    /// The current state; `None` while the next one is being worked out.
    pub fn at(&self) -> Option<StateId> {
        let at = self.walk.at.get();
        (!at.is_null()).then(|| self.walk.number(at))
    }

    /// Sets the current state.
    pub fn set_current(&self, number: Option<StateId>) {
        self.walk.at.set(number.map_or(ptr::null(), |number| &raw const self.all[number as usize]));
    }

    /// A state's block was executed as a whole.
    pub fn visit(&mut self, number: StateId) {
        let visits = &self.all[number as usize].visits;
        visits.set(visits.get() + 1);
    }

    /// Notes which state comes after one. `is_next`: without skipped blocks in between.
    pub fn cache_step(&mut self, from: StateId, is_next: bool, next: StateId) {
        let step = self.step(is_next, next);
        let state = &self.all[from as usize];
        let (known, other) = put(&state.next, &state.oldest, (step, next));
        if known != 0 {
            self.cached_steps[slot(from, known)] = (from, known, other);
        }
    }

    /// Skipped blocks before a state belong to that function, which has the same callers.
    pub fn count_before(&mut self, frames: &mut Frames, number: StateId, label: Label) {
        let before = self.keys[number as usize].call_stack.node_beside(frames, label);
        self.nodes[number as usize].1 = before;
    }

    /// Notes which state comes where the kernel returns from an entry to a program.
    pub fn cache_return_step(&mut self, kernel_entry: KernelEntry, is_next: bool, next: StateId) {
        let steps = &self.entry_steps[kernel_entry as usize];
        put(&steps.back, &steps.oldest, (self.step(is_next, next), next));
    }

    /// The step to a state. `is_next`: without skipped blocks in between.
    fn step(&self, is_next: bool, next: StateId) -> Step {
        self.key(next).block.number | Step::from(!is_next)
    }

    /// Notes which entry a state makes if it enters the kernel.
    pub fn set_entry(&mut self, from: StateId, kernel_entry: KernelEntry) {
        self.entries[from as usize].set(kernel_entry);
    }

    /// The kernel's entry is that one, if the kernel runs. What was counted below another node is
    /// added up.
    pub fn set_kernel_entry(&mut self, frames: &mut Frames, kernel_entry: Option<KernelEntry>) {
        let Some(kernel_entry) =
            kernel_entry.filter(|&kernel_entry| kernel_entry != self.walk.kernel_entry.get())
        else {
            return;
        };
        let base = frames.base(kernel_entry);
        if base != self.walk.base.get() {
            self.flush_some(frames, true);
        }
        self.walk.kernel_entry.set(kernel_entry);
        self.walk.base.set(base);
        if self.entry_steps.len() <= kernel_entry as usize {
            self.entry_steps.resize(2 * (kernel_entry as usize + 1), EntrySteps::default());
            self.walk.entry_steps.set(self.entry_steps.as_ptr());
        }
        self.entry_steps[kernel_entry as usize].base = base;
    }

    /// Adds to the call tree what was counted.
    pub fn flush(&mut self, frames: &mut Frames) {
        self.flush_some(frames, true);
        self.flush_some(frames, false);
        let nodes = &self.nodes;
        self.state_counts.take(|base, sum| {
            let (node, before) = nodes[sum.state as usize];
            frames.count(base, before, sum.before);
            frames.count(base, node.unwrap_or(before), sum.own);
        });
    }

    /// Adds up what was counted in the kernel, or elsewhere.
    fn flush_some(&mut self, frames: &mut Frames, in_kernel: bool) {
        let which = usize::from(in_kernel);
        let base = if in_kernel { self.walk.base.get() } else { ROOT };
        let state_counts = self.state_counts.on(base);
        let mut likely = 0;
        for index in 0..self.walk.entered[which].count.take() {
            // SAFETY: so many were added.
            let number = unsafe { self.entered[which].as_ptr().add(index).read() };
            let state = &self.all[number as usize];
            let visits = u64::from(state.visits.take().unsigned_abs()) - 1;
            let is_of_one = self.nodes[number as usize].0.is_some();
            let own = if is_of_one { visits * u64::from(state.count) } else { 0 };
            likely = state_counts
                .add(likely, StateCount { state: number, own, before: state.before.take() });
            if !is_of_one {
                let StateKey { block, call_stack } = self.keys[number as usize];
                let mut call_stack = call_stack.with_entry(frames, self.walk.kernel_entry.get());
                call_stack.run(frames, block, block.count, visits);
            }
        }
    }

    /// Whether there are so many states that they have to be cleared.
    pub fn is_full(&self) -> bool {
        self.all.len() >= MOST
    }

    /// Clears all states. No caller uses a number any more.
    pub fn clear(&mut self, frames: &mut Frames) {
        self.flush(frames);
        self.state_counts.clear();
        self.cached_steps.fill((0, 0, 0));
        self.all.clear();
        self.nodes.clear();
        self.entries.clear();
        for steps in &self.entry_steps {
            steps.back.iter().for_each(|back| back.set((0, 0)));
        }
        self.keys.clear();
        self.interner.clear();
    }
}

/// Overwrites the older of two steps, and returns that.
fn put(
    nexts: &[Cell<(Step, StateId)>; AT_HAND],
    oldest: &Cell<bool>,
    next: (Step, StateId),
) -> (Step, StateId) {
    nexts[usize::from(oldest.replace(!oldest.get()))].replace(next)
}

/// The index of a shared step.
#[inline]
fn slot(from: StateId, step: Step) -> usize {
    from.wrapping_mul(0x9e37_79b1).wrapping_add(step.wrapping_mul(0x85eb_ca6b)) as usize / (1 << 17)
}
