//! The kernel's ticks within what a program took.
//!
//! A program of some million instructions is over before the second tick: whether one came at all
//! would decide its cost. So its runs begin at distances from a tick that are spread evenly over the
//! time between two, and the ticks in each are counted.

use std::fs;

use hardcost_measured::pace::{self, Pace, Pacer};

use crate::error::{Context, Result, refusal};

/// Milliseconds from a run's end to the next: what it left behind is done with.
const APART: u32 = 60;
/// From the end of the wait to the earliest begin: counting interrupts is over.
const EARLIEST: u64 = 1_000_000;
/// In which order runs begin at the distances, in eighths, so that a few of them are spread too.
const ORDER: [u64; 8] = [0, 4, 2, 6, 1, 5, 3, 7];

/// Where ticks fall.
pub struct Ticks {
    pacer: Pacer,
}

/// A run's begin.
pub struct Begin {
    interrupts: u64,
    time: u64,
}

impl Ticks {
    /// Finds out where ticks fall.
    #[must_use]
    pub fn find() -> Self {
        Self { pacer: Pacer::new(Pace::Tick { later: 0 }) }
    }

    /// From one tick to the next, in nanoseconds.
    pub fn period(&self) -> u64 {
        self.pacer.period()
    }

    /// Waits until the run of that number, from 0, is to begin.
    pub fn begin(&self, run: u32) -> Result<Begin> {
        self.pacer.wait(APART).map_err(refusal).context(|| "waiting for a tick".into())?;
        let awake = pace::monotonic();
        let interrupts = timer_interrupts()?;
        let part = self.period() / ORDER.len() as u64 * ORDER[run as usize % ORDER.len()];
        let mut time = pace::monotonic();
        while time < awake + EARLIEST + part {
            time = pace::monotonic();
        }
        Ok(Begin { interrupts, time })
    }

    /// How many ticks came from a run's begin until `end`, what the monotonic clock then said.
    ///
    /// None comes while the processor is idle: then there were fewer interrupts than that.
    pub fn since(&self, begin: &Begin, end: u64) -> Result<u64> {
        let interrupts = timer_interrupts()? - begin.interrupts;
        Ok(self.pacer.ticks(begin.time, end).min(interrupts))
    }
}

/// How often a timer has interrupted the processor.
fn timer_interrupts() -> Result<u64> {
    const PATH: &str = "/proc/interrupts";
    let text = fs::read_to_string(PATH).context(|| PATH.into())?;
    Ok(text.lines().filter_map(timer_count).sum())
}

/// The count in a line of `/proc/interrupts`, where it is a timer's: of the processor itself, or
/// the one that all machines have.
fn timer_count(line: &str) -> Option<u64> {
    let (name, rest) = line.trim_start().split_once(':')?;
    let count = rest.split_whitespace().next()?;
    ["LOC", "0"].contains(&name).then(|| count.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::timer_count;

    #[test]
    fn a_timers_interrupts_are_counted_and_no_others() {
        assert_eq!(timer_count("  0:         33   IO-APIC   2-edge      timer"), Some(33));
        assert_eq!(timer_count("LOC:       4711   Local timer interrupts"), Some(4711));
        assert_eq!(timer_count("  4:        100   IO-APIC   4-edge      ttyS0"), None);
        assert_eq!(timer_count("           CPU0"), None);
    }
}
