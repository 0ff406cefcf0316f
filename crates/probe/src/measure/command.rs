//! The request to measure a program.

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;

use hardcost_measured::channel::{Command, Order, Task};
use hardcost_measured::cpu_time::CpuTime;
use hardcost_measured::window_start::{self, WindowStart};

use crate::answer_stream::AnswerStream;
use crate::audit::AuditDaemon;
use crate::clock;
use crate::error::Result;
use crate::guest::busy_loop::BusyLoop;
use crate::guest::parallel::session::Span;
use crate::machine::Machine;
use crate::measure::measured_process::{self, MeasuredProcess};
use crate::measure::sched_batch::SchedBatch;
use crate::measure::timer_ticks::TimerTicks;
use crate::processes::child_process::PATH;
use crate::processes::outputs::OUTPUT_LIMIT;
use crate::processes::wait::Deadline;
use crate::protocol::{Answer, CommandAnswer, CommandPlan};
use crate::whole_system::Background;

/// Runs a program as an ordinary user, once or several times, and answers for each run.
///
/// A run in which the program fails is the last one.
pub fn measure(
    plan: &CommandPlan,
    machine: Machine,
    background: &mut Background<'_>,
    out: &mut AnswerStream,
) -> Result<()> {
    let (clock, parallel) = clock::of_program(plan.clock, background.parallel)?;
    let by = machine.window_start(clock, background.perturbation.later());
    // The ticks of several processors come at all times.
    let one = parallel.is_none() && matches!(by, WindowStart::AfterTick { .. });
    let ticks = one.then(TimerTicks::find);
    let mut spent = 0;
    for number in 0..plan.runs.max(1) {
        let answer = run(plan, background, ticks.as_ref(), number)?;
        spent += answer.ticks;
        let failed = answer.status != Some(0);
        out.write(&Answer::Command(answer))?;
        if failed || spent >= plan.enough {
            break;
        }
    }
    Ok(())
}

/// Measures one run, from the program's start until it is reaped.
fn run(
    plan: &CommandPlan,
    background: &mut Background<'_>,
    watched: Option<&TimerTicks>,
    number: u32,
) -> Result<CommandAnswer> {
    let deadline = Deadline::within(plan.limit)?;
    let mut environment = BTreeMap::from([("PATH".into(), PATH.into())]);
    environment.extend(background.perturbation.variable());
    let task = Task::Command(Command { argv: plan.argv.clone(), environment });
    let (mut process, identity) = MeasuredProcess::start(task, OUTPUT_LIMIT, background, deadline)?;
    background.audit.as_deref_mut().map(|audit| audit.begin(identity.session)).transpose()?;
    let paused = background.busy_loop.map(BusyLoop::pause).transpose()?;
    let before = CpuTime::reaped();
    let begin = watched.map(|ticks| ticks.begin(number)).transpose()?;
    let (clock, parallel) = clock::of_program(plan.clock, background.parallel)?;
    let span = parallel.map(Span::begin).transpose()?;
    let start = clock.now();
    // A program that ends closes its outputs. That would wake this process during the program's
    // exit or after it, depending on their earlier run times.
    let batch = SchedBatch::own()?;
    process.send(&Order::Go)?;
    if !process.child.wait(None, background, deadline)?.ended {
        return Err(measured_process::late(background, deadline));
    }
    let status = process.child.reap()?;
    let ticks = clock.now().wrapping_sub(start);
    let (length, parallel) = span.map(|span| span.end(ticks)).unzip();
    let end = window_start::monotonic();
    drop(paused);
    drop(batch);
    let within = watched.zip(begin).map(|(ticks, begin)| ticks.since(&begin, end)).transpose()?;
    // Nothing else was reaped since. What the process used before `Go` is not the command's.
    let used = CpuTime::reaped().since(before).since(process.used);
    process.child.outputs.take_rest()?;
    process.failure()?;
    let audit = background.audit.as_deref_mut().map(AuditDaemon::finish).transpose()?;
    let (stdout, stderr) = (&process.child.outputs.stdout, &process.child.outputs.stderr);
    Ok(CommandAnswer {
        status: status.code(),
        signal: status.signal(),
        ticks: length.unwrap_or(ticks),
        interruptions: within.unwrap_or(0),
        period: watched.map_or(0, TimerTicks::period),
        user: used.user,
        system: used.system,
        stdout: stdout.text(),
        stdout_bytes: stdout.total(),
        stderr: stderr.text(),
        stderr_bytes: stderr.total(),
        audit,
        parallel,
    })
}
