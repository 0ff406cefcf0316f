//! The request to measure a program.

use std::os::unix::process::ExitStatusExt;

use crate::audit::Audit;
use crate::channel::{Order, Task};
use crate::child::Child;
use crate::clock::ClockName;
use crate::cputime::CpuTime;
use crate::error::{Context, Result};
use crate::protocol::{Answer, CommandAnswer};
use crate::session::Session;

/// How much of each of the program's outputs to report, in bytes.
const OUTPUT_LIMIT: usize = 64 << 10;

/// Runs a program as an ordinary user and measures it from its start to its being reaped.
pub fn measure(session: &mut Session, argv: Vec<String>, clock: ClockName) -> Result<Answer> {
    let mut audit = session.audit.as_mut();
    let (mut child, identity) =
        Child::start(Task::Command { argv }, OUTPUT_LIMIT, audit.as_deref_mut())?;
    audit.as_deref_mut().map(|audit| audit.begin(identity.session)).transpose()?;
    let before = CpuTime::reaped();
    let start = clock.now();
    child.tell(&Order::Go)?;
    let ended = child.process.wait(None, audit.as_deref_mut());
    ended.context(|| "waiting for the command".into())?;
    let status = child.process.reap().context(|| "waiting for the command".into())?;
    let ticks = clock.now().wrapping_sub(start);
    // Nothing else was reaped since, and what it used before it was told to go is not the command's.
    let used = CpuTime::reaped().since(before).since(child.used);
    child.process.take_rest().context(|| "reading the command's output".into())?;
    child.failure()?;
    let audit = audit.map(Audit::finish).transpose()?;
    let (stdout, stderr) = (&child.process.stdout, &child.process.stderr);
    Ok(Answer::Command(CommandAnswer {
        status: status.code(),
        signal: status.signal(),
        ticks,
        user: used.user,
        system: used.system,
        stdout: stdout.text(),
        stdout_bytes: stdout.total(),
        stderr: stderr.text(),
        stderr_bytes: stderr.total(),
        audit,
    }))
}
