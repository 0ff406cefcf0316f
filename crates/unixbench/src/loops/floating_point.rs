//! Floating-point work in double precision, of the kind that Whetstone stands for.
//!
//! Whetstone weighs groups of operations as a compiler's statistics of scientific programs found
//! them (Curnow and Wichmann, "A synthetic benchmark", The Computer Journal 19, 1976); a loop with
//! these weights represents a hundred thousand of its instructions. The weights are from that
//! article; the work in each group is not Whetstone's.

use std::hint::black_box;

use crate::fault::{Result, check};
use crate::test_loop::TestLoop;

const ELEMENTS: u32 = 12; // sums of an array's elements
const ARRAYS: u32 = 14; // the same, the array being a parameter
const JUMPS: u32 = 345; // decisions
const INTEGERS: u32 = 210; // integer arithmetic
const ANGLES: u32 = 32; // trigonometric functions
const CALLS: u32 = 899; // procedures of numbers
const ASSIGNMENTS: u32 = 616; // an array's elements moved
const FUNCTIONS: u32 = 93; // root, exponential and logarithm

const NEARLY: f64 = 0.499_975;
const TOLERANCE: f64 = 1e-9; // between processors' mathematical functions; all else is exact

/// The result of each group.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Outcome {
    elements: f64,
    arrays: f64,
    jumps: u32,
    integers: i64,
    angles: f64,
    calls: f64,
    assignments: [f64; 3],
    functions: f64,
}

/// The state that the loops modify.
pub struct Figures {
    first: Option<Outcome>,
    differing: u64,
}

impl Figures {
    /// No loop done.
    pub fn new() -> Self {
        Self { first: None, differing: 0 }
    }
}

impl TestLoop for Figures {
    fn once(&mut self) -> Result<()> {
        let outcome = Outcome {
            elements: elements(),
            arrays: arrays(),
            jumps: jumps(),
            integers: integers(),
            angles: angles(),
            calls: calls(),
            assignments: assignments(),
            functions: functions(),
        };
        let first = *self.first.get_or_insert(outcome);
        self.differing += u64::from(first != black_box(outcome));
        Ok(())
    }

    fn finish(self, _loops: u64) -> Result<()> {
        check(self.differing == 0, || format!("{} loops came to another", self.differing))?;
        let Some(outcome) = self.first else { return check(false, || "nothing".into()) };
        let near = |found: f64, known: f64| (found - known).abs() <= TOLERANCE * known.abs();
        let right = near(outcome.elements, ELEMENTS_COME_TO)
            && near(outcome.arrays, ARRAYS_COME_TO)
            && outcome.jumps == JUMPS / 2
            && outcome.integers == i64::from(INTEGERS) * 6
            && near(outcome.angles, ANGLES_COME_TO)
            && near(outcome.calls, CALLS_COME_TO)
            && outcome.assignments.map(f64::to_bits) == [1.0, 2.0, 3.0].map(f64::to_bits)
            && near(outcome.functions, FUNCTIONS_COME_TO);
        check(right, || format!("{outcome:?}"))
    }
}

// Computed in decimal arithmetic of fifty digits, the functions by their series.
const ELEMENTS_COME_TO: f64 = -2.384_677_312_783_337;
const ARRAYS_COME_TO: f64 = -2.387_363_526_527_314;
const ANGLES_COME_TO: f64 = 0.998_061_464_500_736_2;
const CALLS_COME_TO: f64 = 0.999_937_500_625;
const FUNCTIONS_COME_TO: f64 = 0.759_865_144_888_246_9;

/// Sums and differences of an array's elements.
#[inline(never)]
fn elements() -> f64 {
    let mut field = black_box([1.0, -1.0, -1.0, -1.0]);
    for _ in 0..ELEMENTS * 10 {
        step(&mut field);
    }
    field.iter().sum()
}

/// The same in a procedure that receives the array.
#[inline(never)]
fn arrays() -> f64 {
    let mut field = black_box([1.0, -1.0, -1.0, -1.0]);
    for _ in 0..ARRAYS {
        six_steps(&mut field);
    }
    field.iter().sum()
}

#[inline(never)]
fn six_steps(field: &mut [f64; 4]) {
    for _ in 0..6 {
        step(field);
        field[3] /= black_box(1.000_025);
    }
}

#[inline]
fn step(field: &mut [f64; 4]) {
    let nearly = black_box(NEARLY);
    field[0] = (field[0] + field[1] + field[2] - field[3]) * nearly;
    field[1] = (field[0] + field[1] - field[2] + field[3]) * nearly;
    field[2] = (field[0] - field[1] + field[2] + field[3]) * nearly;
    field[3] = (-field[0] + field[1] + field[2] + field[3]) * nearly;
}

/// Decisions that each depend on the previous one.
#[inline(never)]
fn jumps() -> u32 {
    let mut state = black_box(0_u32);
    let mut taken = 0;
    for _ in 0..JUMPS {
        state = if black_box(state) == 1 { 2 } else { 3 };
        state = u32::from(black_box(state) > 2);
        taken += u32::from(black_box(state) < 1);
    }
    taken
}

/// Integer arithmetic whose result returns to its start.
#[inline(never)]
fn integers() -> i64 {
    let (mut one, mut two, mut three) = black_box((1_i64, 2_i64, 3_i64));
    let mut sum = 0;
    for _ in 0..INTEGERS {
        one = one * (two - one) * (three - two);
        two = black_box(three) * two - (three - two) * (three + one);
        three = (three - two + one) * (two + one) / black_box(2);
        sum += one + two + three;
        (one, two, three) = black_box((1, 2, 3));
    }
    sum
}

/// Sines, cosines and arctangents of their previous results.
#[inline(never)]
fn angles() -> f64 {
    let (mut x, mut y) = black_box((0.5_f64, 0.5_f64));
    for _ in 0..ANGLES {
        x = NEARLY * ((2.0 * x.sin() * x.cos()) / ((x + y).cos() + (x - y).cos() - 1.0)).atan();
        y = NEARLY * ((2.0 * y.sin() * y.cos()) / ((x + y).cos() + (x - y).cos() - 1.0)).atan();
    }
    x + y
}

/// A procedure with three parameters, the third of which it changes.
#[inline(never)]
fn calls() -> f64 {
    let (x, y, mut z) = black_box((1.0, 1.0, 1.0));
    for _ in 0..CALLS {
        mean(x, y, &mut z);
    }
    z
}

#[inline(never)]
fn mean(x: f64, y: f64, z: &mut f64) {
    let x = black_box(NEARLY) * (x + y);
    let y = black_box(NEARLY) * (x + y);
    *z = (x + y) * black_box(0.5);
}

/// Elements of an array moved around by index.
#[inline(never)]
fn assignments() -> [f64; 3] {
    let mut field = black_box([1.0, 2.0, 3.0]);
    for _ in 0..ASSIGNMENTS * 3 {
        let [one, two, three] = black_box([0_usize, 1, 2]);
        let kept = field[one];
        field[one] = field[two];
        field[two] = field[three];
        field[three] = kept;
    }
    field
}

/// Roots of exponentials of logarithms.
#[inline(never)]
fn functions() -> f64 {
    let mut x = black_box(0.75_f64);
    for _ in 0..FUNCTIONS {
        x = (x.ln() / black_box(0.500_25)).exp().sqrt();
    }
    x
}

#[cfg(test)]
mod tests {
    use super::Figures;
    use crate::test_loop::TestLoop;

    #[test]
    fn every_group_comes_to_what_was_worked_out_with_more_digits() {
        let mut figures = Figures::new();
        figures.once().unwrap();
        figures.once().unwrap();
        assert_eq!(figures.finish(2), Ok(()));
    }

    #[test]
    fn a_loop_that_comes_to_another_result_is_noticed() {
        let mut figures = Figures::new();
        figures.once().unwrap();
        figures.first.as_mut().unwrap().calls *= 1.000_1;
        figures.once().unwrap();
        assert!(figures.finish(2).is_err());
        let mut figures = Figures::new();
        figures.once().unwrap();
        figures.first.as_mut().unwrap().angles *= 1.000_001;
        assert!(figures.finish(1).is_err());
    }
}
