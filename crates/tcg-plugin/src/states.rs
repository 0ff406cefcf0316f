//! Where a guest stands: under which functions, in which block. What is worked out once is remembered.
//!
//! Which functions are called once a block comes after another one depends on nothing else in nearly
//! all cases. So states are a graph whose edges are blocks, and following a guest is a walk in it. What
//! a step takes is in 32 bytes for each state: whatever it takes from the processor's caches, QEMU has
//! to fetch again.
//!
//! The kernel's states are the same whoever called it: they stand on a floor, which is known besides.
//! What was counted in them is added up before they stand on another one. Where the kernel goes back
//! to from a floor is kept with the floor.

use alloc::vec;
use alloc::vec::Vec;
use core::cell::Cell;
use core::ptr;

use crate::context::{Announced, Context};
use crate::decode::{Block, BlockNumber};
use crate::frames::{Floor, Frames, GROUND};
use crate::numbers::Numbers;
use crate::progress::Gauges;
use crate::sums::{AllSums, Sum};
use crate::tree::{Label, Node, ROOT};

/// A state, by its number. There is none of number 0.
pub type Number = u32;

/// A block that comes next, and whether others ran unheard before it. 0 is none.
type Step = u32;

/// How many steps a state keeps at hand, and how many of all states are kept besides.
const AT_HAND: usize = 2;
const KEPT: usize = 1 << 15; // see `slot`
/// The most states that are remembered.
const MOST: usize = 1 << 20;

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
    side: Side,
    oldest: Cell<bool>,
}

/// What is to be heeded of a state while it is walked through.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    /// It is in the kernel, of which the entry is known: it stands on a floor.
    Kernel,
    /// It is not, and it matters how many accesses to memory its last instruction makes.
    Watched,
    /// It is not.
    Other,
}

/// What a step takes of a floor.
#[derive(Clone, Default)]
struct Ground {
    /// Where the kernel goes back to from there.
    back: [Cell<(Step, Number)>; AT_HAND],
    oldest: Cell<bool>,
    /// Where in the tree what stands on it begins.
    base: Node,
}

/// Numbers of states, in a list that has room for all.
struct Touched {
    list: Cell<*mut Number>,
    count: Cell<usize>,
}

impl Touched {
    const fn new() -> Self {
        Self { list: Cell::new(ptr::null_mut()), count: Cell::new(0) }
    }

    #[inline]
    fn add(&self, number: Number) {
        let count = self.count.get();
        // SAFETY: there is room for all states, and each is noted once.
        unsafe { self.list.get().add(count).write(number) };
        self.count.set(count + 1);
    }
}

/// What a state is: that block runs, under these functions.
#[derive(Clone, Copy)]
pub struct Place {
    /// The block.
    pub block: &'static Block,
    /// The stack; if that is of the kernel, on any floor.
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
    /// Whether no block matters but those that read the clock.
    pub sleeps: Cell<bool>,
    /// Where states are, and the steps that are kept besides.
    states: Cell<*const State>,
    kept: Cell<*const Kept>,
    /// The floor that the kernel was on last, and where what stands on it begins. The kernel's states
    /// are asked before that changes.
    pub floor: Cell<Floor>,
    base: Cell<Node>,
    /// For each state which floor its stack is if it enters the kernel, as far as known; and floors.
    floors: Cell<*const Cell<Floor>>,
    grounds: Cell<*const Ground>,
    /// The states that were entered since they were last asked: the kernel's, and others.
    touched: [Touched; 2],
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
            floor: Cell::new(GROUND),
            base: Cell::new(ROOT),
            floors: Cell::new(ptr::null()),
            grounds: Cell::new(ptr::null()),
            touched: [const { Touched::new() }; 2],
            gauges: Gauges::new(),
            total: Cell::new(0),
        }
    }

    /// A block of the kernel begins. Whether it is known where that leads; if so, it stands there now.
    #[inline]
    pub fn goes_in_kernel(&self, block: BlockNumber) -> bool {
        // SAFETY: a state stays where it is as long as somebody stands there.
        let Some(from) = (unsafe { self.at.get().as_ref() }) else { return self.sleeps.get() };
        self.steps::<true>(from, block)
    }

    /// The same of a program's block that reads no clock which counts.
    #[inline]
    pub fn goes_in_program(&self, block: BlockNumber) -> bool {
        // SAFETY: as above.
        let Some(from) = (unsafe { self.at.get().as_ref() }) else { return self.sleeps.get() };
        self.steps::<false>(from, block)
    }

    #[inline]
    fn steps<const TO_KERNEL: bool>(&self, from: &State, block: BlockNumber) -> bool {
        let begun = self.gauges.begun();
        let count = u64::from(from.count);
        let step = block | Step::from(begun != count);
        let leaves = !TO_KERNEL && from.side == Side::Kernel;
        let nexts = if leaves { self.back() } else { &from.next };
        let number = match nexts.each_ref().map(Cell::get) {
            [(known, next), _] | [_, (known, next)] if known == step => next,
            _ if leaves => return false,
            _ => match self.kept(from, step) {
                Some(next) => next,
                None => return false,
            },
        };
        let next = self.state(number);
        if begun < count || next.visits.get() < 0 {
            return false;
        }
        if TO_KERNEL && from.side != next.side && !self.enters(from) {
            return false;
        }
        self.touch(number, next);
        self.total.set(self.total.get() + begun);
        from.visits.set(from.visits.get() + 1);
        if begun != count {
            next.before.set(next.before.get() + begun - count);
        }
        self.at.set(next);
        self.gauges.clear(next.side == Side::Watched);
        true
    }

    /// Where the kernel goes back to from its floor.
    #[inline]
    fn back(&self) -> &'static [Cell<(Step, Number)>; AT_HAND] {
        // SAFETY: each floor that the kernel was on has one.
        unsafe { &(*self.grounds.get().add(self.floor.get() as usize)).back }
    }

    /// The kernel is entered from a state. Whether what stands on that begins where what stood on the
    /// last floor did; if so, the kernel is on that floor now.
    #[inline]
    fn enters(&self, from: &State) -> bool {
        // SAFETY: there is one for each state, and one for each floor that the kernel was on.
        let floor = unsafe { (*self.floors.get().add(self.number(from) as usize)).get() };
        // SAFETY: as above.
        let is_alike = unsafe { (*self.grounds.get().add(floor as usize)).base } == self.base.get();
        if is_alike {
            self.floor.set(floor);
        }
        is_alike
    }

    /// Notes that a state is entered.
    #[inline]
    fn touch(&self, number: Number, state: &State) {
        if state.visits.get() == 0 {
            state.visits.set(1);
            self.touched[usize::from(state.side == Side::Kernel)].add(number);
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
    numbers: Numbers,
    kept: Vec<Kept>,
    /// For each state where its function is in the tree, `None` if it has several; and where that is
    /// which ran unheard before it.
    nodes: Vec<(Option<Node>, Node)>,
    floors: Vec<Cell<Floor>>,
    grounds: Vec<Ground>,
    touched: [Vec<Number>; 2],
    /// What was counted in states before they were last asked.
    sums: AllSums,
}

impl States {
    /// None yet.
    pub fn new(walk: &'static Walk) -> Self {
        let all = Vec::with_capacity(MOST + 1);
        walk.states.set(all.as_ptr());
        let kept = vec![(0, 0, 0); KEPT];
        walk.kept.set(kept.as_ptr());
        let touched = [&walk.touched[0], &walk.touched[1]].map(|touched| {
            let mut list = Vec::with_capacity(MOST + 1);
            touched.list.set(list.as_mut_ptr());
            list
        });
        let (places, numbers) = (Vec::new(), Numbers::default());
        let floors = Vec::with_capacity(MOST + 1);
        walk.floors.set(floors.as_ptr());
        // Nobody goes back from the ground, and nothing that was counted stands on it.
        let grounds = Vec::from([Ground { base: Node::MAX, ..Ground::default() }]);
        walk.grounds.set(grounds.as_ptr());
        let (nodes, sums) = (Vec::new(), AllSums::default());
        Self { walk, all, places, numbers, kept, nodes, floors, grounds, touched, sums }
    }

    /// What a state is.
    pub fn place(&self, number: Number) -> Place {
        self.places[number as usize]
    }

    /// The state of that stack, in which that block runs.
    pub fn state(&mut self, frames: &Frames, context: Context, block: &'static Block) -> Number {
        let context = context.on_any_floor();
        if self.all.is_empty() {
            self.make(frames, context, block); // of number 0: nobody stands there
        }
        let next = Number::try_from(self.all.len()).unwrap_or(Number::MAX);
        let places = &self.places;
        let number = self.numbers.number((context, block.number), next, |one| {
            let place = &places[one as usize];
            place.block.number == block.number && place.context == context
        });
        if number == next {
            self.make(frames, context, block);
        }
        self.walk.touch(number, &self.all[number as usize]);
        number
    }

    fn make(&mut self, frames: &Frames, context: Context, block: &'static Block) {
        let accesses = block.last_may_fail.is_some_and(|accesses| accesses > 0);
        // There is room for all, so that they stay where they are.
        self.all.push(State {
            next: [const { Cell::new((0, 0)) }; AT_HAND],
            before: Cell::new(0),
            visits: Cell::new(0),
            count: block.count,
            side: match context.floor() {
                Some(_) => Side::Kernel,
                None if !block.is_kernel() && accesses => Side::Watched,
                None => Side::Other,
            },
            oldest: Cell::new(false),
        });
        self.floors.push(Cell::new(GROUND));
        let node = context.node(frames);
        self.nodes.push(((block.parts.len() < 2).then_some(node), node));
        self.places.push(Place { block, context });
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
        let step = self.step(is_next, next);
        let state = &self.all[from as usize];
        let (known, other) = put(&state.next, &state.oldest, (step, next));
        if known != 0 {
            self.kept[slot(from, known)] = (from, known, other);
        }
    }

    /// What runs unheard before a state is of that function, which stands in the place of its own.
    pub fn count_before(&mut self, frames: &mut Frames, number: Number, label: Label) {
        let before = self.places[number as usize].context.node_beside(frames, label);
        self.nodes[number as usize].1 = before;
    }

    /// Has a state come from now on where the kernel goes back from a floor to a program.
    pub fn lead_back(&mut self, floor: Floor, is_next: bool, next: Number) {
        let ground = &self.grounds[floor as usize];
        put(&ground.back, &ground.oldest, (self.step(is_next, next), next));
    }

    /// The step to a state, directly or not.
    fn step(&self, is_next: bool, next: Number) -> Step {
        self.place(next).block.number | Step::from(!is_next)
    }

    /// A state's stack is that floor where it enters the kernel.
    pub fn enter(&mut self, from: Number, floor: Floor) {
        self.floors[from as usize].set(floor);
    }

    /// The kernel is on that floor, if it is in the kernel: what was counted on another is added up.
    pub fn stand_on(&mut self, frames: &mut Frames, floor: Option<Floor>) {
        let Some(floor) = floor.filter(|&floor| floor != self.walk.floor.get()) else { return };
        let base = frames.base(floor);
        if base != self.walk.base.get() {
            self.settle_some(frames, true);
        }
        self.walk.floor.set(floor);
        self.walk.base.set(base);
        if self.grounds.len() <= floor as usize {
            self.grounds.resize(2 * (floor as usize + 1), Ground::default());
            self.walk.grounds.set(self.grounds.as_ptr());
        }
        self.grounds[floor as usize].base = base;
    }

    /// Adds to the tree what was counted.
    pub fn settle(&mut self, frames: &mut Frames) {
        self.settle_some(frames, true);
        self.settle_some(frames, false);
        let nodes = &self.nodes;
        self.sums.take(|base, sum| {
            let (node, before) = nodes[sum.state as usize];
            frames.count(base, before, sum.before);
            frames.count(base, node.unwrap_or(before), sum.own);
        });
    }

    /// Adds up what was counted in the kernel, or elsewhere.
    fn settle_some(&mut self, frames: &mut Frames, in_kernel: bool) {
        let which = usize::from(in_kernel);
        let base = if in_kernel { self.walk.base.get() } else { ROOT };
        let sums = self.sums.on(base);
        let mut likely = 0;
        for index in 0..self.walk.touched[which].count.take() {
            // SAFETY: so many were noted.
            let number = unsafe { self.touched[which].as_ptr().add(index).read() };
            let state = &self.all[number as usize];
            let visits = u64::from(state.visits.take().unsigned_abs()) - 1;
            let is_of_one = self.nodes[number as usize].0.is_some();
            let own = if is_of_one { visits * u64::from(state.count) } else { 0 };
            likely = sums.add(likely, Sum { state: number, own, before: state.before.take() });
            if !is_of_one {
                let Place { block, context } = self.places[number as usize];
                let mut context = context.on_floor(frames, self.walk.floor.get());
                context.run(frames, block, block.count, visits);
            }
        }
    }

    /// Whether there are so many that they are better forgotten.
    pub fn is_full(&self) -> bool {
        self.all.len() >= MOST
    }

    /// Forgets all states. Nobody has one any more.
    pub fn forget(&mut self, frames: &mut Frames) {
        self.settle(frames);
        self.sums.forget();
        self.kept.fill((0, 0, 0));
        self.all.clear();
        self.nodes.clear();
        self.floors.clear();
        for ground in &self.grounds {
            ground.back.iter().for_each(|back| back.set((0, 0)));
        }
        self.places.clear();
        self.numbers.clear();
    }
}

/// Puts a step in the place of the older of two, and returns that.
fn put(
    nexts: &[Cell<(Step, Number)>; AT_HAND],
    oldest: &Cell<bool>,
    next: (Step, Number),
) -> (Step, Number) {
    nexts[usize::from(oldest.replace(!oldest.get()))].replace(next)
}

/// Where a step is kept.
#[inline]
fn slot(from: Number, step: Step) -> usize {
    from.wrapping_mul(0x9e37_79b1).wrapping_add(step.wrapping_mul(0x85eb_ca6b)) as usize / (1 << 17)
}
