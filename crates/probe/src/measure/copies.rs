//! Copies of the measured process, which make the same call at the same time on other processors.
//!
//! What processes share, such as the kernel's queue of audit records, is waited for only if several
//! need it at once.

use std::collections::BTreeMap;
use std::time::Duration;

use hardcost_measured::channel::{CallTask, Plan, Task};
use hardcost_measured::window_start::WindowStart;

use crate::error::Result;
use crate::measure::measured_process::{MeasuredProcess, late};
use crate::processes::wait::Deadline;
use crate::whole_system::Background;

/// A copy that ran so long is surely in its loop, in nanoseconds: its preparation takes some
/// hundredths of that.
const IN_ITS_LOOP: u64 = 10_000_000;
/// How long to wait between two checks.
const LOOK: Duration = Duration::from_millis(1);
/// How much of a copy's output is kept, in bytes.
const OUTPUT_LIMIT: usize = 4096;

/// The copies of a measured process, by their processors. They are killed when this is dropped.
///
/// A copy is the measured program in a warm-up that takes days: it executes the same instructions,
/// and between two operations nothing else, but for two readings of the clock at the end of each
/// window.
#[derive(Default)]
pub struct Copies {
    each: BTreeMap<usize, MeasuredProcess>,
}

impl Copies {
    /// Starts a copy on each of the processors, and waits until all of them make calls.
    pub fn start(
        tasks: Vec<(usize, CallTask)>,
        background: &mut Background<'_>,
        deadline: Deadline,
    ) -> Result<Self> {
        let start = |(cpu, task)| {
            Ok((cpu, MeasuredProcess::start_endless(endless(task), cpu, OUTPUT_LIMIT)?))
        };
        let mut started = Self { each: tasks.into_iter().map(start).collect::<Result<_>>()? };
        while started.used(background)?.values().any(|&ran| ran < IN_ITS_LOOP) {
            if deadline.is_over() {
                return Err(late(background, deadline));
            }
            background.wait(&[], deadline.or_in(LOOK))?;
        }
        Ok(started)
    }

    /// How long each has run, in nanoseconds. One that no longer works is an error.
    pub fn used(&mut self, background: &mut Background<'_>) -> Result<BTreeMap<usize, u64>> {
        self.each
            .iter_mut()
            .map(|(&cpu, process)| Ok((cpu, process.still_works(background)?)))
            .collect()
    }

    /// How long each has run since `before`, in nanoseconds, by its processor's number.
    pub fn since(
        &mut self,
        before: &BTreeMap<usize, u64>,
        background: &mut Background<'_>,
    ) -> Result<BTreeMap<String, u64>> {
        let ran = |(cpu, ran): (usize, u64)| {
            (cpu.to_string(), ran.saturating_sub(before.get(&cpu).copied().unwrap_or(0)))
        };
        Ok(self.used(background)?.into_iter().map(ran).collect())
    }
}

/// The task of making a call endlessly, without a pause.
fn endless(task: CallTask) -> Task {
    let plan = Plan { samples: 1, warmup: u32::MAX, ..task.plan };
    Task::Call(CallTask { plan, window_start: WindowStart::Immediate, ..task })
}
