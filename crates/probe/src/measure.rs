//! The request to measure system calls.

use hardcost_measured::NAMES;
use hardcost_measured::channel::{CallTask, Order, Plan, Reply, Task};

use crate::aside::Aside;
use crate::audit::Audit;
use crate::child::{Child, unexpected};
use crate::clock;
use crate::error::{Error, Result};
use crate::out::Out;
use crate::place::Place;
use crate::protocol::{Answer, CallAnswer, CallPlan, ClockName};
use crate::spinner::Spinner;
use crate::system::Company;
use crate::wait::Deadline;

/// How many empty windows to measure.
const EMPTY_WINDOWS: usize = 33;
/// How much of a child's output to report, in characters.
const OUTPUT_LIMIT: usize = 4096;
/// The most operations a window, and windows a call, may have; beyond it is surely a mistake.
const MOST: u32 = 1 << 20;

/// What measuring needs besides what is to be measured.
pub struct Bench<'a> {
    /// Where the probe runs.
    pub place: Place,
    /// What to read around each window.
    pub clock: ClockName,
    /// By when all has to be done.
    pub deadline: Deadline,
    /// What goes on meanwhile.
    pub company: Company<'a>,
}

/// Measures calls, one after the other, and answers for each.
pub fn calls(bench: &mut Bench<'_>, plans: &[CallPlan], out: &mut Out) -> Result<()> {
    let clock = bench.clock;
    plans.iter().try_for_each(check)?;
    out.say(&Answer::Clock {
        clock,
        overhead: clock::ClockName::from(clock).overhead(EMPTY_WINDOWS),
    })?;
    for plan in plans {
        let answer = call(bench, plan)?;
        out.say(&Answer::Call(answer))?;
    }
    Ok(())
}

/// Refuses what cannot be measured.
fn check(plan: &CallPlan) -> Result<()> {
    let CallPlan { name, batch, samples, warmup, apart } = plan;
    let all = 1..=MOST;
    if !NAMES.contains(&name.as_str()) {
        return Err(Error::Other(format!("no call is named {name:?}")));
    }
    if !all.contains(batch)
        || !all.contains(samples)
        || [warmup, apart].into_iter().any(|&count| count > MOST)
    {
        let message =
            format!("call {name}: batch and samples go from 1 to {MOST}, the others from 0");
        return Err(Error::Other(message));
    }
    Ok(())
}

/// A plan as the measured process has it.
fn the_plan(plan: &CallPlan) -> Plan {
    let CallPlan { name, batch, samples, warmup, apart } = plan.clone();
    Plan { name, batch, samples, warmup, apart }
}

/// Measures one call in a process of its own.
fn call(bench: &mut Bench<'_>, plan: &CallPlan) -> Result<CallAnswer> {
    let Bench { place, clock, deadline, ref mut company } = *bench;
    let task = Task::Call(CallTask {
        clock: clock.into(),
        plan: the_plan(plan),
        pace: place.pace(clock.into(), company.perturbation.later()),
        noop: place.noop()?,
    });
    // A character is at most four bytes.
    let (mut child, identity) = Child::start(task, 4 * OUTPUT_LIMIT, company, deadline)?;
    company.audit.as_deref_mut().map(|audit| audit.begin(identity.session)).transpose()?;
    let aside = (place == Place::Guest).then(Aside::step).transpose()?;
    let halted = company.spinner.map(Spinner::halt).transpose()?;
    child.tell(&Order::Go)?;
    match child.hear(company, deadline)? {
        Reply::Done => {}
        other => return Err(unexpected(&other)),
    }
    drop(halted);
    drop(aside);
    let counts = company.audit.as_deref_mut().map(Audit::finish).transpose()?;
    child.tell(&Order::Report)?;
    let samples = match child.hear(company, deadline)? {
        Reply::Samples(samples) => samples,
        other => return Err(unexpected(&other)),
    };
    child.end()?;
    let output = child.process.outputs.stdout.text() + &child.process.outputs.stderr.text();
    Ok(CallAnswer {
        name: plan.name.clone(),
        clock,
        batch: plan.batch,
        samples,
        uid: identity.uid,
        loginuid: identity.loginuid,
        audit: counts,
        output: output.chars().take(OUTPUT_LIMIT).collect(),
    })
}
