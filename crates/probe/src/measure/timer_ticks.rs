//! The kernel's timer ticks during a program's run.
//!
//! A program of some million instructions ends before the second tick: whether any came would
//! decide its cost. So its runs begin at evenly spread distances from a tick, and the ticks in each
//! run are counted.

use std::fs;

use hardcost_measured::window_start::{self, WindowStart, WindowTimer};

use crate::error::{Context, Result, refusal};

/// Milliseconds from a run's end to the next begin: the run's deferred work is over by then.
const APART: u32 = 60;
/// From the end of the wait to the earliest begin: reading the interrupt counts is over by then.
const EARLIEST: u64 = 1_000_000;
/// The order of the distances, in eighths of a tick, so that a few runs are spread, too.
const ORDER: [u64; 8] = [0, 4, 2, 6, 1, 5, 3, 7];

/// When ticks come.
pub struct TimerTicks {
    timer: WindowTimer,
}

/// The begin of a run.
pub struct RunStart {
    interrupts: u64,
    time: u64,
}

impl TimerTicks {
    /// Finds out when ticks come.
    #[must_use]
    pub fn find() -> Self {
        Self { timer: WindowTimer::new(WindowStart::AfterTick { later: 0 }) }
    }

    /// From one tick to the next, in nanoseconds.
    pub fn period(&self) -> u64 {
        self.timer.period()
    }

    /// Waits until the run of that number, from 0, may begin.
    pub fn begin(&self, run: u32) -> Result<RunStart> {
        self.timer.wait(APART).map_err(refusal).context(|| "waiting for a tick".into())?;
        let awake = window_start::monotonic();
        let interrupts = timer_interrupts()?;
        let part = self.period() / ORDER.len() as u64 * ORDER[run as usize % ORDER.len()];
        let mut time = window_start::monotonic();
        while time < awake + EARLIEST + part {
            time = window_start::monotonic();
        }
        Ok(RunStart { interrupts, time })
    }

    /// How many ticks came from a run's begin until `end`, by the monotonic clock.
    ///
    /// None comes while the processor is idle: then fewer interrupts were counted.
    pub fn since(&self, begin: &RunStart, end: u64) -> Result<u64> {
        let interrupts = timer_interrupts()? - begin.interrupts;
        Ok(self.timer.ticks(begin.time, end).min(interrupts))
    }
}

/// How many timer interrupts there were.
fn timer_interrupts() -> Result<u64> {
    const PATH: &str = "/proc/interrupts";
    let text = fs::read_to_string(PATH).context(|| PATH.into())?;
    Ok(text.lines().filter_map(timer_count).sum())
}

/// The count in a line of `/proc/interrupts`, if it is a timer's: the processor's own, or the one
/// that all machines have.
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
