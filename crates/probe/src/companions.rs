//! Processes that make the same call as the measured one, at the same time, on other processors.
//!
//! What processes share, such as the kernel's queue of audit records, is waited for only where
//! several want it at once.

use std::collections::BTreeMap;
use std::time::Duration;

use hardcost_measured::channel::{CallTask, Plan, Task};
use hardcost_measured::pace::Pace;

use crate::child::{Child, late};
use crate::error::Result;
use crate::system::Company;
use crate::wait::Deadline;

/// How long a companion has run when it is surely in its loop, in nanoseconds: what it prepares takes
/// some hundredths of that.
const IN_ITS_LOOP: u64 = 10_000_000;
/// How long to wait between two looks.
const LOOK: Duration = Duration::from_millis(1);
/// How much of a companion's output is kept, in bytes.
const OUTPUT_LIMIT: usize = 4096;

/// The companions of a measured process, by their processors; they are killed when this goes away.
///
/// A companion is the measured program in a warm-up that takes days: it executes the same
/// instructions as what is measured, and between two operations nothing but, where a window ends, two
/// readings of the clock.
#[derive(Default)]
pub struct Companions {
    each: BTreeMap<usize, Child>,
}

impl Companions {
    /// Starts one on each of the processors, with the task of what is measured, and returns when all
    /// of them make calls.
    pub fn start(
        tasks: Vec<(usize, CallTask)>,
        company: &mut Company<'_>,
        deadline: Deadline,
    ) -> Result<Self> {
        let start =
            |(cpu, task)| Ok((cpu, Child::start_endless(endless(task), cpu, OUTPUT_LIMIT)?));
        let mut started = Self { each: tasks.into_iter().map(start).collect::<Result<_>>()? };
        while started.used(company)?.values().any(|&ran| ran < IN_ITS_LOOP) {
            if deadline.is_over() {
                return Err(late(company, deadline));
            }
            company.wait(&[], deadline.or_in(LOOK))?;
        }
        Ok(started)
    }

    /// How long each has run in all, in nanoseconds; one that is not at work any more is an error.
    pub fn used(&mut self, company: &mut Company<'_>) -> Result<BTreeMap<usize, u64>> {
        self.each.iter_mut().map(|(&cpu, child)| Ok((cpu, child.still_works(company)?))).collect()
    }

    /// How long each has run since `before`, in nanoseconds, by its processor's number.
    pub fn since(
        &mut self,
        before: &BTreeMap<usize, u64>,
        company: &mut Company<'_>,
    ) -> Result<BTreeMap<String, u64>> {
        let ran = |(cpu, ran): (usize, u64)| {
            (cpu.to_string(), ran.saturating_sub(before.get(&cpu).copied().unwrap_or(0)))
        };
        Ok(self.used(company)?.into_iter().map(ran).collect())
    }
}

/// The task of making a call over and over, without a pause.
fn endless(task: CallTask) -> Task {
    let plan = Plan { samples: 1, warmup: u32::MAX, ..task.plan };
    Task::Call(CallTask { plan, pace: Pace::None, ..task })
}
