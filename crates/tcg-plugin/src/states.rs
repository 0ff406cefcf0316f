//! Where a guest stands: under which functions, in which block. What is worked out once is remembered.
//!
//! Which functions are called once a block comes after another one depends on nothing else in nearly
//! all cases. So states are a graph whose edges are blocks, and following a guest is a walk in it. What
//! a step takes is in 32 bytes for each state: whatever it takes from the processor's caches, QEMU has
//! to fetch again.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use core::cell::Cell;
use core::ptr;

use crate::context::{Announced, Context};
use crate::decode::{Block, BlockNumber};
use crate::frames::Frames;
use crate::progress::Gauges;

/// A state, by its number. There is none of number 0.
pub type Number = u32;

/// A block that comes next, and whether others ran unheard before it. 0 is none.
type Step = u32;

/// How many steps a state keeps at hand, and how many of all states are kept besides.
const AT_HAND: usize = 2;
const KEPT: usize = 1 << 15; // see `slot`
/// The most states that are remembered.
const MOST: usize = 1 << 19;

/// A state, a step from there, and the state that it leads to.
type Kept = (Number, Step, Number);

/// What a step takes of a state.
#[repr(C, align(32))]
struct State {
    next: [Cell<(Step, Number)>; AT_HAND],
    /// How many instructions of its function ran unheard before its block, since that was last asked.
    before: Cell<u64>,
    /// 1 and how often its block was executed as a whole since that was last asked; 0: it was not
    /// entered since. It is asked before this is negative.
    visits: Cell<i32>,
    /// How many instructions the block has.
    count: u16,
    /// Whether it matters how many accesses to memory its last instruction makes.
    is_watched: bool,
    oldest: Cell<bool>,
}

/// What a state is: that block runs, under these functions.
#[derive(Clone, Copy)]
pub struct Place {
    /// The block.
    pub block: &'static Block,
    /// The stack.
    pub context: Context,
}

impl Place {
    /// Whether the kernel has announced nothing that has an effect later.
    pub fn is_settled(&self) -> bool {
        self.context.announced == Announced::default()
    }
}

/// Where the guest stands. What is done for each block is done here.
pub struct Walk {
    at: Cell<*const State>,
    /// Whether it has to be told of no block but those that read the clock.
    pub sleeps: Cell<bool>,
    /// Where states are, and the steps that are kept besides.
    states: Cell<*const State>,
    kept: Cell<*const Kept>,
    /// The states that were entered since they were last asked, and how many those are.
    touched: Cell<*mut Number>,
    touches: Cell<usize>,
    /// Where it is counted how far a block comes.
    pub gauges: Gauges,
    /// How many instructions were executed in this window.
    pub total: Cell<u64>,
}

// SAFETY: one thread at a time calls the plugin.
unsafe impl Sync for Walk {}

impl Walk {
    /// Nowhere yet.
    pub const fn new() -> Self {
        Self {
            at: Cell::new(ptr::null()),
            sleeps: Cell::new(false),
            states: Cell::new(ptr::null()),
            kept: Cell::new(ptr::null()),
            touched: Cell::new(ptr::null_mut()),
            touches: Cell::new(0),
            gauges: Gauges::new(),
            total: Cell::new(0),
        }
    }

    /// A block begins that reads no clock which counts. Whether it is known where that leads; if so,
    /// it stands there now.
    #[inline]
    pub fn goes(&self, block: BlockNumber) -> bool {
        // SAFETY: a state stays where it is as long as somebody stands there.
        let Some(from) = (unsafe { self.at.get().as_ref() }) else { return self.sleeps.get() };
        self.steps(from, block)
    }

    /// The same of a block that reads a clock which counts.
    pub fn goes_reading(&self, block: BlockNumber) -> bool {
        // SAFETY: as above.
        unsafe { self.at.get().as_ref() }.is_some_and(|from| self.steps(from, block))
    }

    #[inline]
    fn steps(&self, from: &State, block: BlockNumber) -> bool {
        let begun = self.gauges.begun();
        let count = u64::from(from.count);
        let step = block | Step::from(begun != count);
        let number = match from.next.each_ref().map(Cell::get) {
            [(known, next), _] | [_, (known, next)] if known == step => next,
            _ => match self.kept(from, step) {
                Some(next) => next,
                None => return false,
            },
        };
        let next = self.state(number);
        if begun < count || next.visits.get() < 0 {
            return false;
        }
        self.touch(number, next);
        self.total.set(self.total.get() + begun);
        from.visits.set(from.visits.get() + 1);
        next.before.set(next.before.get() + begun - count);
        self.at.set(next);
        self.gauges.clear(next.is_watched);
        true
    }

    /// Notes that a state is entered.
    #[inline]
    fn touch(&self, number: Number, state: &State) {
        if state.visits.get() == 0 {
            state.visits.set(1);
            let count = self.touches.get();
            // SAFETY: there is room for all states, and each is noted once.
            unsafe { self.touched.get().add(count).write(number) };
            self.touches.set(count + 1);
        }
    }

    #[inline]
    fn state(&self, number: Number) -> &'static State {
        // SAFETY: a state stays where it is as long as others lead to it.
        unsafe { &*self.states.get().add(number as usize) }
    }

    /// Where a step leads that is not at hand.
    #[inline]
    fn kept(&self, from: &State, step: Step) -> Option<Number> {
        let number = self.number(from);
        // SAFETY: there are so many.
        let (state, known, next) = unsafe { *self.kept.get().add(slot(number, step)) };
        (state == number && known == step).then_some(next)
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation, reason = "there are at most `MOST`")]
    fn number(&self, state: *const State) -> Number {
        let far = state.addr() - self.states.get().addr();
        (far / size_of::<State>()) as Number
    }
}

/// All states.
pub struct States {
    walk: &'static Walk,
    all: Vec<State>,
    places: Vec<Place>,
    numbers: BTreeMap<(Context, BlockNumber), Number>,
    kept: Vec<Kept>,
    touched: Vec<Number>,
}

impl States {
    /// None yet.
    pub fn new(walk: &'static Walk) -> Self {
        let all = Vec::with_capacity(MOST + 1);
        walk.states.set(all.as_ptr());
        let kept = vec![(0, 0, 0); KEPT];
        walk.kept.set(kept.as_ptr());
        let mut touched = Vec::with_capacity(MOST + 1);
        walk.touched.set(touched.as_mut_ptr());
        let (places, numbers) = (Vec::new(), BTreeMap::new());
        Self { walk, all, places, numbers, kept, touched }
    }

    /// What a state is.
    pub fn place(&self, number: Number) -> Place {
        self.places[number as usize]
    }

    /// The state of that stack, in which that block runs.
    pub fn state(&mut self, context: Context, block: &'static Block) -> Number {
        if self.all.is_empty() {
            self.make(context, block); // of number 0: nobody stands there
        }
        let number = match self.numbers.get(&(context, block.number)) {
            Some(&number) => number,
            None => self.make(context, block),
        };
        self.walk.touch(number, &self.all[number as usize]);
        number
    }

    fn make(&mut self, context: Context, block: &'static Block) -> Number {
        let number = Number::try_from(self.all.len()).unwrap_or(Number::MAX);
        let accesses = block.last_may_fail.is_some_and(|accesses| accesses > 0);
        // There is room for all, so that they stay where they are.
        self.all.push(State {
            next: [const { Cell::new((0, 0)) }; AT_HAND],
            before: Cell::new(0),
            visits: Cell::new(0),
            count: block.count,
            is_watched: !block.is_kernel() && accesses,
            oldest: Cell::new(false),
        });
        self.places.push(Place { block, context });
        if number > 0 {
            self.numbers.insert((context, block.number), number);
        }
        number
    }

    /// The state that the walk is in; `None` while what comes next is to be worked out.
    pub fn at(&self) -> Option<Number> {
        let at = self.walk.at.get();
        (!at.is_null()).then(|| self.walk.number(at))
    }

    /// Has the walk stand there.
    pub fn stand(&self, number: Option<Number>) {
        self.walk.at.set(number.map_or(ptr::null(), |number| &raw const self.all[number as usize]));
    }

    /// A state's block was executed as a whole.
    pub fn visit(&mut self, number: Number) {
        let visits = &self.all[number as usize].visits;
        visits.set(visits.get() + 1);
    }

    /// Has a state come after one from now on, directly or not, where its block begins.
    pub fn lead(&mut self, from: Number, is_next: bool, next: Number) {
        let step = self.place(next).block.number | Step::from(!is_next);
        let state = &self.all[from as usize];
        let oldest = state.oldest.get();
        state.oldest.set(!oldest);
        let (known, other) = state.next[usize::from(oldest)].replace((step, next));
        if known != 0 {
            self.kept[slot(from, known)] = (from, known, other);
        }
    }

    /// Adds to the tree what was counted.
    pub fn settle(&mut self, frames: &mut Frames) {
        for index in 0..self.walk.touches.take() {
            // SAFETY: so many were noted.
            let number = unsafe { self.touched.as_ptr().add(index).read() };
            let state = &self.all[number as usize];
            let Place { block, mut context } = self.places[number as usize];
            let node = context.node(frames);
            frames.tree.count(node, state.before.take());
            let visits = u64::from(state.visits.take().unsigned_abs()) - 1;
            context.run(frames, block, block.count, visits);
        }
    }

    /// Whether there are so many that they are better forgotten.
    pub fn is_full(&self) -> bool {
        self.all.len() >= MOST
    }

    /// Forgets all states. Nobody has one any more.
    pub fn forget(&mut self, frames: &mut Frames) {
        self.settle(frames);
        self.kept.fill((0, 0, 0));
        self.all.clear();
        self.places.clear();
        self.numbers.clear();
    }
}

/// Where a step is kept.
#[inline]
fn slot(from: Number, step: Step) -> usize {
    from.wrapping_mul(0x9e37_79b1).wrapping_add(step.wrapping_mul(0x85eb_ca6b)) as usize / (1 << 17)
}
