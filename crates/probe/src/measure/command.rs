//! The request to measure a program.

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;

use hardcost_measured::channel::{Command, Order, Task};
use hardcost_measured::cputime::CpuTime;
use hardcost_measured::pace::{self, Pace};

use crate::aside::Aside;
use crate::audit::Audit;
use crate::child::{self, Child};
use crate::clock::ClockName;
use crate::error::Result;
use crate::out::Out;
use crate::outputs::OUTPUT_LIMIT;
use crate::place::Place;
use crate::process::PATH;
use crate::protocol::{Answer, CommandAnswer, CommandPlan};
use crate::spinner::Spinner;
use crate::system::Company;
use crate::ticks::Ticks;
use crate::wait::Deadline;

/// Runs a program as an ordinary user, once or several times, and answers for each run.
///
/// A run in which the program fails is the last one.
pub fn measure(
    plan: &CommandPlan,
    place: Place,
    company: &mut Company<'_>,
    out: &mut Out,
) -> Result<()> {
    let by = place.pace(plan.clock.into(), company.perturbation.later());
    let ticks = matches!(by, Pace::Tick { .. }).then(Ticks::find);
    let mut spent = 0;
    for number in 0..plan.runs.max(1) {
        let answer = run(plan, company, ticks.as_ref(), number)?;
        spent += answer.ticks;
        let failed = answer.status != Some(0);
        out.say(&Answer::Command(answer))?;
        if failed || spent >= plan.enough {
            break;
        }
    }
    Ok(())
}

/// Measures one run, from the program's start to its being reaped.
fn run(
    plan: &CommandPlan,
    company: &mut Company<'_>,
    watched: Option<&Ticks>,
    number: u32,
) -> Result<CommandAnswer> {
    let deadline = Deadline::within(plan.limit)?;
    let mut environment = BTreeMap::from([("PATH".into(), PATH.into())]);
    environment.extend(company.perturbation.variable());
    let task = Task::Command(Command { argv: plan.argv.clone(), environment });
    let (mut child, identity) = Child::start(task, OUTPUT_LIMIT, company, deadline)?;
    company.audit.as_deref_mut().map(|audit| audit.begin(identity.session)).transpose()?;
    let halted = company.spinner.map(Spinner::halt).transpose()?;
    let before = CpuTime::reaped();
    let begin = watched.map(|ticks| ticks.begin(number)).transpose()?;
    let clock = ClockName::from(plan.clock);
    let start = clock.now();
    // A program that ends closes what it wrote to. That would wake this process in the midst of the
    // program's exit, or after it, depending on how long each of the two ran before.
    let aside = Aside::alone()?;
    child.tell(&Order::Go)?;
    if !child.process.wait(None, company, deadline)?.ended {
        return Err(child::late(company, deadline));
    }
    let status = child.process.reap()?;
    let ticks = clock.now().wrapping_sub(start);
    let end = pace::monotonic();
    drop(halted);
    drop(aside);
    let within = watched.zip(begin).map(|(ticks, begin)| ticks.since(&begin, end)).transpose()?;
    // Nothing else was reaped since, and what it used before it was told to go is not the command's.
    let used = CpuTime::reaped().since(before).since(child.used);
    child.process.outputs.take_rest()?;
    child.failure()?;
    let audit = company.audit.as_deref_mut().map(Audit::finish).transpose()?;
    let (stdout, stderr) = (&child.process.outputs.stdout, &child.process.outputs.stderr);
    Ok(CommandAnswer {
        status: status.code(),
        signal: status.signal(),
        ticks,
        interruptions: within.unwrap_or(0),
        period: watched.map_or(0, Ticks::period),
        user: used.user,
        system: used.system,
        stdout: stdout.text(),
        stdout_bytes: stdout.total(),
        stderr: stderr.text(),
        stderr_bytes: stderr.total(),
        audit,
    })
}
