//! The request to measure system calls.

use crate::aside::Aside;
use crate::audit::Audit;
use crate::calls;
use crate::channel::{Order, Reply, Task};
use crate::child::{Child, unexpected};
use crate::clock::ClockName;
use crate::error::{Error, Result};
use crate::protocol::{Answer, CallAnswer, CallPlan};
use crate::session::{Place, Session};

/// How many empty windows to measure.
const EMPTY_WINDOWS: usize = 33;
/// How much of a child's output to report, in characters.
const OUTPUT_LIMIT: usize = 4096;
/// The most operations a window, and windows a call, may have; beyond it is surely a mistake.
const MOST: u32 = 1 << 20;

/// Measures calls, one after the other, and answers for each.
pub fn calls(session: &mut Session, clock: ClockName, plans: &[CallPlan]) -> Result<()> {
    plans.iter().try_for_each(check)?;
    session.say(&Answer::Clock { clock, overhead: clock.overhead(EMPTY_WINDOWS) })?;
    for plan in plans {
        let answer = call(session, clock, plan)?;
        session.say(&Answer::Call(answer))?;
    }
    Ok(())
}

/// Refuses what cannot be measured.
fn check(plan: &CallPlan) -> Result<()> {
    let CallPlan { name, batch, samples, warmup } = plan;
    let all = 1..=MOST;
    if calls::find(name).is_none() {
        return Err(Error::Other(format!("no call is named {name:?}")));
    }
    if !all.contains(batch) || !all.contains(samples) || *warmup > MOST {
        let message = format!("call {name}: batch and samples go from 1 to {MOST}, warmup from 0");
        return Err(Error::Other(message));
    }
    Ok(())
}

/// Measures one call in a process of its own.
fn call(session: &mut Session, clock: ClockName, plan: &CallPlan) -> Result<CallAnswer> {
    let (pace, noop) = (session.pace(clock), session.place.noop());
    let task = Task::Call { clock, plan: plan.clone(), pace, noop };
    let mut audit = session.audit.as_mut();
    // A character is at most four bytes.
    let (mut child, identity) = Child::start(task, 4 * OUTPUT_LIMIT, audit.as_deref_mut())?;
    audit.as_deref_mut().map(|audit| audit.begin(identity.session)).transpose()?;
    let aside = (session.place == Place::Guest).then(Aside::step).transpose()?;
    child.tell(&Order::Go)?;
    match child.hear(audit.as_deref_mut())? {
        Reply::Done => {}
        other => return Err(unexpected(&other)),
    }
    drop(aside);
    let counts = audit.as_deref_mut().map(Audit::finish).transpose()?;
    child.tell(&Order::Report)?;
    let samples = match child.hear(audit)? {
        Reply::Samples(samples) => samples,
        other => return Err(unexpected(&other)),
    };
    child.end()?;
    let output = child.process.stdout.text() + &child.process.stderr.text();
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
