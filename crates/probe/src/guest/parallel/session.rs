//! A job on several processors: their clock, and what became of a span of time.

use std::thread;
use std::time::Duration;

use hardcost_linux::parallel_clock::ParallelClock;
use hardcost_measured::clock::{Clock, Tsc};

use crate::error::{Context, Error, Result};
use crate::guest::parallel::processors::{CLOCK, Measured};
use crate::guest::parallel::{spinner, turns};
use crate::protocol::{ParallelSpan, ParallelStarted};

/// From the start of the processes that count to the calibration: each is on its processor by then.
const SETTLING: Duration = Duration::from_millis(50);
/// How long the calibration counts, by the guest's clock.
const CALIBRATION: Duration = Duration::from_millis(100);

/// What several processors are doing.
pub struct Parallel {
    measured: Measured,
    clock: ParallelClock,
    /// Instructions for each count of a process that counts, all that interrupts it among them.
    per_count: f64,
}

/// All counts at one moment.
struct Counts {
    /// The clock, in parallel instructions.
    now: u64,
    clock: u64,
    idle: Vec<u64>,
}

/// A span that has begun.
pub struct Span<'a> {
    of: &'a Parallel,
    begin: Counts,
}

impl Parallel {
    /// Starts the clock with turns of that length, and calibrates it.
    #[expect(clippy::disallowed_methods, reason = "nothing is being looked after yet")]
    pub fn start(measured: Measured, nanoseconds: u32) -> Result<(Self, ParallelStarted)> {
        let clock = ParallelClock::make().context(|| "making a clock".into())?;
        turns::shorten(nanoseconds)?;
        spinner::start(&clock, CLOCK)?;
        measured.each().try_for_each(|processor| spinner::start(&clock, processor))?;
        let mut parallel = Self { measured, clock, per_count: 0.0 };
        thread::sleep(SETTLING);
        let (since, begin) = (Tsc::now(), parallel.counts());
        thread::sleep(CALIBRATION);
        let (until, end) = (Tsc::now(), parallel.counts());
        let started = parallel.calibrate(&begin, &end, until - since)?;
        Ok((parallel, started))
    }

    fn counts(&self) -> Counts {
        Counts {
            now: self.clock.now(),
            clock: self.clock.count(CLOCK),
            idle: self.measured.each().map(|processor| self.clock.count(processor)).collect(),
        }
    }

    /// Scales the clock by a span in which all processors only counted, `all` in instructions.
    #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
    fn calibrate(&mut self, begin: &Counts, end: &Counts, all: u64) -> Result<ParallelStarted> {
        let of_clock = end.clock - begin.clock;
        let counts: Vec<u64> =
            end.idle.iter().zip(&begin.idle).map(|(end, begin)| end - begin).collect();
        if of_clock == 0 || counts.contains(&0) {
            return Err(Error::Other(format!(
                "not all processors run: {of_clock} on the first, {counts:?} on those measured"
            )));
        }
        let sum: u64 = counts.iter().sum();
        self.per_count = all as f64 / (of_clock + sum) as f64;
        let each = sum as f64 / counts.len() as f64;
        self.clock.set_scale(self.per_count * each / of_clock as f64);
        Ok(ParallelStarted { counts, clock: of_clock, ticks: all })
    }

    /// Counts in instructions.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "far below 2^53, and positive"
    )]
    fn scaled(&self, counts: u64) -> u64 {
        (counts as f64 * self.per_count) as u64
    }
}

impl<'a> Span<'a> {
    /// Begins a span, before the time-stamp counter is read.
    pub fn begin(of: &'a Parallel) -> Result<Self> {
        of.measured.keep_kernel()?;
        Ok(Self { of, begin: of.counts() })
    }

    /// Its length until now in parallel instructions, and what became of it. By the time-stamp
    /// counter, all processors have executed so many instructions (`ticks`).
    pub fn end(&self, ticks: u64) -> (u64, ParallelSpan) {
        let (begin, end) = (&self.begin, self.of.counts());
        let scaled = |(end, begin): (&u64, &u64)| self.of.scaled(end - begin);
        let of_clock = self.of.scaled(end.clock - begin.clock);
        let span = ParallelSpan {
            ticks,
            executed: ticks.saturating_sub(of_clock),
            idle: end.idle.iter().zip(&begin.idle).map(scaled).collect(),
        };
        (end.now - begin.now, span)
    }
}
