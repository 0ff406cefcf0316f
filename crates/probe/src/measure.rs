//! The request to measure system calls.

use hardcost_measured::NAMES;
use hardcost_measured::channel::{CallTask, Identity, Order, Plan, Reply, Task};

use crate::aside::Aside;
use crate::audit::Audit;
use crate::child::{Child, unexpected};
use crate::companions::Companions;
use crate::counters::Counters;
use crate::error::{Error, Result};
use crate::out::Out;
use crate::place::Place;
use crate::processors::Allotted;
use crate::protocol::{Answer, CallAnswer, CallCounters, CallPlan, ClockName};
use crate::spinner::Spinner;
use crate::system::Company;
use crate::wait::Deadline;
use crate::{clock, tree};

/// How many empty windows to measure.
const EMPTY_WINDOWS: usize = 33;
/// How much of a child's output to report, in characters.
const OUTPUT_LIMIT: usize = 4096;
/// The most operations a window, and windows a call, may have; beyond it is surely a mistake.
const MOST: u32 = 1 << 20;
/// For so many windows that are timed, the processor counts in one.
const COUNTED: u32 = 4;

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
    /// Which processors run the process and those that make the call beside it; `None`: it is alone.
    pub allotted: Option<Allotted>,
    /// What the processor is to count.
    pub counters: Vec<String>,
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

/// Measures one call in a process of its own. What the processor counts, it counts of another: to
/// switch between processes and to make them takes longer where their events are counted.
fn call(bench: &mut Bench<'_>, plan: &CallPlan) -> Result<CallAnswer> {
    let mut companions = companions(bench, plan)?;
    let mut answer = timed(bench, plan, &mut companions)?;
    if !bench.counters.is_empty() {
        answer.counters = Some(counted(bench, plan)?);
        companions.used(&mut bench.company)?;
    }
    Ok(answer)
}

/// What the measured process is there for.
fn task(bench: &Bench<'_>, plan: Plan) -> Result<CallTask> {
    let clock = bench.clock.into();
    let pace = bench.place.pace(clock, bench.company.perturbation.later());
    Ok(CallTask { clock, plan, pace, noop: bench.place.noop()? })
}

/// Starts those that make the call at the same time, if any.
fn companions(bench: &mut Bench<'_>, plan: &CallPlan) -> Result<Companions> {
    let Some(allotted) = &bench.allotted else { return Ok(Companions::default()) };
    let tasks = allotted.others.iter().map(|&cpu| Ok((cpu, task(bench, the_plan(plan))?)));
    let tasks = tasks.collect::<Result<Vec<_>>>()?;
    Companions::start(tasks, &mut bench.company, bench.deadline)
}

/// Starts the process that makes the call, and returns when it is ready.
fn start(bench: &mut Bench<'_>, plan: Plan) -> Result<(Child, Identity)> {
    let task = Task::Call(task(bench, plan)?);
    let processor = bench.allotted.as_ref().map(|allotted| allotted.measured);
    // A character is at most four bytes.
    Child::start_on(processor, task, 4 * OUTPUT_LIMIT, &mut bench.company, bench.deadline)
}

/// Measures how long the call takes.
fn timed(
    bench: &mut Bench<'_>,
    plan: &CallPlan,
    companions: &mut Companions,
) -> Result<CallAnswer> {
    let (mut child, identity) = start(bench, the_plan(plan))?;
    let Bench { place, clock, deadline, ref mut company, .. } = *bench;
    company.audit.as_deref_mut().map(|audit| audit.begin(identity.session)).transpose()?;
    let before = companions.used(company)?;
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
    let companions = companions.since(&before, company)?;
    let samples = samples(&mut child, company, deadline)?;
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
        companions,
        counters: None,
    })
}

/// Takes the samples from a process that is done, and waits for its end.
fn samples(child: &mut Child, company: &mut Company<'_>, deadline: Deadline) -> Result<Vec<u64>> {
    child.tell(&Order::Report)?;
    let samples = match child.hear(company, deadline)? {
        Reply::Samples(samples) => samples,
        other => return Err(unexpected(&other)),
    };
    child.end()?;
    Ok(samples)
}

/// Has the processor count in fewer windows than are timed.
fn counted(bench: &mut Bench<'_>, plan: &CallPlan) -> Result<CallCounters> {
    let plan = Plan { samples: (plan.samples / COUNTED).max(1), ..the_plan(plan) };
    let windows = plan.samples;
    let (mut child, _) = start(bench, plan)?;
    let Bench { deadline, ref mut company, ref counters, .. } = *bench;
    let counters = Counters::of(counters, &tree::family(child.process.pid()))?;
    counters.start()?;
    child.tell(&Order::Go)?;
    match child.hear(company, deadline)? {
        Reply::Done => {}
        other => return Err(unexpected(&other)),
    }
    let counted = counters.stop(windows)?;
    samples(&mut child, company, deadline)?;
    Ok(counted)
}
