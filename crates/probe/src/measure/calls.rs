//! The request to measure system calls.

use hardcost_measured::NAMES;
use hardcost_measured::channel::{CallTask, Identity, Order, Plan, Reply, Task};

use crate::answer_stream::AnswerStream;
use crate::audit::AuditDaemon;
use crate::clock;
use crate::error::{Error, Result};
use crate::guest::busy_loop::BusyLoop;
use crate::machine::Machine;
use crate::measure::copies::Copies;
use crate::measure::cpu_affinity::Allocation;
use crate::measure::measured_process::{MeasuredProcess, unexpected};
use crate::measure::perf_counters::PerfCounters;
use crate::measure::sched_batch::SchedBatch;
use crate::processes::process_tree;
use crate::processes::wait::Deadline;
use crate::protocol::{Answer, CallAnswer, CallCounters, CallPlan, ClockName};
use crate::whole_system::Background;

/// How many empty windows to measure.
const EMPTY_WINDOWS: usize = 33;
/// How much of a process's output to report, in characters.
const OUTPUT_LIMIT: usize = 4096;
/// The most operations in a window, and windows of a call; more is a mistake.
const MOST: u32 = 1 << 20;
/// How many windows are timed for each in which the processor counts.
const COUNTED: u32 = 4;

/// What a measurement needs besides the plans.
pub struct Conditions<'a> {
    /// Where the probe runs.
    pub machine: Machine,
    /// What to read around each window.
    pub clock: ClockName,
    /// When all has to be done.
    pub deadline: Deadline,
    /// What needs attention meanwhile.
    pub background: Background<'a>,
    /// The processors of the process and of its copies; `None`: there are no copies.
    pub allocation: Option<Allocation>,
    /// What the processor is to count.
    pub counters: Vec<String>,
}

/// Measures calls one after the other, and answers for each.
pub fn measure(
    conditions: &mut Conditions<'_>,
    plans: &[CallPlan],
    out: &mut AnswerStream,
) -> Result<()> {
    let clock = conditions.clock;
    plans.iter().try_for_each(check)?;
    let overhead = clock::of_window(clock)?.overhead(EMPTY_WINDOWS);
    out.write(&Answer::Clock { clock, overhead })?;
    for plan in plans {
        let answer = call(conditions, plan)?;
        out.write(&Answer::Call(answer))?;
    }
    Ok(())
}

/// Refuses a plan that can't be measured.
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

/// A plan in the measured process's type.
fn the_plan(plan: &CallPlan) -> Plan {
    let CallPlan { name, batch, samples, warmup, apart } = plan.clone();
    Plan { name, batch, samples, warmup, apart }
}

/// Measures one call in a process of its own. The processor counts another process: switching
/// between and making processes takes longer where their events are counted.
fn call(conditions: &mut Conditions<'_>, plan: &CallPlan) -> Result<CallAnswer> {
    let mut copies = start_copies(conditions, plan)?;
    let mut answer = timed(conditions, plan, &mut copies)?;
    if !conditions.counters.is_empty() {
        answer.counters = Some(counted(conditions, plan)?);
        copies.used(&mut conditions.background)?;
    }
    Ok(answer)
}

/// The measured process's task.
fn task(conditions: &Conditions<'_>, plan: Plan) -> Result<CallTask> {
    let clock = clock::of_window(conditions.clock)?;
    let window_start =
        conditions.machine.window_start(clock, conditions.background.perturbation.later());
    Ok(CallTask { clock, plan, window_start, noop: conditions.machine.noop()? })
}

/// Starts the copies, if there are any.
fn start_copies(conditions: &mut Conditions<'_>, plan: &CallPlan) -> Result<Copies> {
    let Some(allocation) = &conditions.allocation else { return Ok(Copies::default()) };
    let tasks = allocation.others.iter().map(|&cpu| Ok((cpu, task(conditions, the_plan(plan))?)));
    let tasks = tasks.collect::<Result<Vec<_>>>()?;
    Copies::start(tasks, &mut conditions.background, conditions.deadline)
}

/// Starts the process that makes the call, and waits until it is ready.
fn start(conditions: &mut Conditions<'_>, plan: Plan) -> Result<(MeasuredProcess, Identity)> {
    let task = Task::Call(task(conditions, plan)?);
    let processor = conditions.allocation.as_ref().map(|allocation| allocation.measured);
    // A character is at most four bytes.
    MeasuredProcess::start_on(
        processor,
        task,
        4 * OUTPUT_LIMIT,
        &mut conditions.background,
        conditions.deadline,
    )
}

/// Measures how long the call takes.
fn timed(
    conditions: &mut Conditions<'_>,
    plan: &CallPlan,
    copies: &mut Copies,
) -> Result<CallAnswer> {
    let (mut process, identity) = start(conditions, the_plan(plan))?;
    let Conditions { machine, clock, deadline, ref mut background, .. } = *conditions;
    background.audit.as_deref_mut().map(|audit| audit.begin(identity.session)).transpose()?;
    let before = copies.used(background)?;
    let batch = (machine == Machine::Guest).then(SchedBatch::with_audit_thread).transpose()?;
    let paused = background.busy_loop.map(BusyLoop::pause).transpose()?;
    process.send(&Order::Go)?;
    match process.receive(background, deadline)? {
        Reply::Done => {}
        other => return Err(unexpected(&other)),
    }
    drop(paused);
    drop(batch);
    let counts = background.audit.as_deref_mut().map(AuditDaemon::finish).transpose()?;
    let companions = copies.since(&before, background)?;
    let samples = samples(&mut process, background, deadline)?;
    let output = process.child.outputs.stdout.text() + &process.child.outputs.stderr.text();
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
fn samples(
    process: &mut MeasuredProcess,
    background: &mut Background<'_>,
    deadline: Deadline,
) -> Result<Vec<u64>> {
    process.send(&Order::Report)?;
    let samples = match process.receive(background, deadline)? {
        Reply::Samples(samples) => samples,
        other => return Err(unexpected(&other)),
    };
    process.end()?;
    Ok(samples)
}

/// Lets the processor count in fewer windows than are timed.
fn counted(conditions: &mut Conditions<'_>, plan: &CallPlan) -> Result<CallCounters> {
    let plan = Plan { samples: (plan.samples / COUNTED).max(1), ..the_plan(plan) };
    let windows = plan.samples;
    let (mut process, _) = start(conditions, plan)?;
    let Conditions { deadline, ref mut background, ref counters, .. } = *conditions;
    let counters = PerfCounters::of(counters, &process_tree::family(process.child.pid()))?;
    counters.start()?;
    process.send(&Order::Go)?;
    match process.receive(background, deadline)? {
        Reply::Done => {}
        other => return Err(unexpected(&other)),
    }
    let counted = counters.stop(windows)?;
    samples(&mut process, background, deadline)?;
    Ok(counted)
}
