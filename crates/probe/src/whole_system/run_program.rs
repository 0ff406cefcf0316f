//! The request to run a program to its end.

use std::fs;
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use hardcost_measured::channel::Program;
use hardcost_measured::cpu_time::CpuTime;

use crate::clock::{self, Clock, ClockName, Tsc};
use crate::error::{Context, Error, Result};
use crate::guest::parallel::session::Span;
use crate::processes::outputs::{OUTPUT_LIMIT, Outputs, Wakeup};
use crate::processes::wait::Deadline;
use crate::protocol::{Answer, RanAnswer, RunJob};
use crate::recorders::RecordingEpoch;
use crate::whole_system::background::Background;
use crate::whole_system::log_tails::LogTails;
use crate::whole_system::program_process::{self, ProgramProcess};
use crate::whole_system::service;

/// Runs a program to its end. With a clock, measures it from just before its start until it is
/// reaped.
pub fn run(job: &RunJob, background: &mut Background<'_>, watch: RecordingEpoch) -> Result<Answer> {
    let deadline = Deadline::after(job.limit)?;
    let program = program(job, background)?;
    let (mut outputs, sinks) = Outputs::new(OUTPUT_LIMIT)?;
    let mut process = ProgramProcess::prepare(program, sinks, background, deadline)?;
    let counted = background.audit.as_deref_mut().filter(|_| job.clock.is_some());
    let counted = counted.map(|audit| audit.begin(process.session)).transpose()?.is_some();
    let before = CpuTime::reaped();
    let clock = job.clock.map(|name| clock::of_program(name, background.parallel)).transpose()?;
    let (clock, parallel) = clock.unzip();
    let span = parallel.flatten().map(Span::begin).transpose()?;
    let begin = Moment::now(clock);
    process.go()?;
    let status = end(&mut process, &mut outputs, background, deadline, job)?;
    let end = Moment::now(clock);
    let (length, parallel) = span.map(|span| span.end(end.tsc.wrapping_sub(begin.tsc))).unzip();
    // Nothing else was reaped since. What the process used before `Go` is not the program's.
    let used = CpuTime::reaped().since(before).since(process.used);
    outputs.take_rest()?;
    process.failure()?;
    let audit = background.audit.as_deref_mut().filter(|_| counted);
    let audit = audit.map(crate::audit::AuditDaemon::finish).transpose()?;
    check(job, status, &outputs)?;
    Ok(Answer::Ran(RanAnswer {
        name: job.name.clone(),
        status: status.code(),
        signal: status.signal(),
        ticks: length.or_else(|| clock.map(|_| end.measured.wrapping_sub(begin.measured))),
        user: used.user,
        system: used.system,
        stdout: outputs.stdout.text(),
        stdout_bytes: outputs.stdout.total(),
        stderr: outputs.stderr.text(),
        stderr_bytes: outputs.stderr.total(),
        begin: watch.ticks(begin.tsc),
        end: watch.ticks(end.tsc),
        audit,
        parallel,
    }))
}

/// The time-stamp counter, and the measuring clock. If these are the same, it is read once: a
/// profile counts from one reading to the next.
struct Moment {
    tsc: u64,
    measured: u64,
}

impl Moment {
    #[inline]
    fn now(clock: Option<ClockName>) -> Self {
        let tsc = Tsc::now();
        let measured = match clock {
            Some(ClockName::Monotonic) => ClockName::Monotonic.now(),
            Some(ClockName::Tsc) | None => tsc,
        };
        Self { tsc, measured }
    }
}

/// The program of a request. Its standard input is a file.
fn program(job: &RunJob, background: &mut Background<'_>) -> Result<Program> {
    let mut program = program_process::of_user(&job.argv, &job.user, &job.environment)?;
    program.environment.extend(background.perturbation.variable());
    program.login = job.login;
    program.context.clone_from(&job.context);
    program.folder.clone_from(&job.folder);
    if !job.stdin.is_empty() {
        let path = background.services.path(&job.name, "in")?;
        fs::write(&path, &job.stdin).context(|| path.clone())?;
        program.stdin = Some(path);
    }
    Ok(program)
}

/// Waits for the program's end, and reaps it. A program that takes too long is killed.
fn end(
    process: &mut ProgramProcess,
    outputs: &mut Outputs,
    background: &mut Background<'_>,
    deadline: Deadline,
    job: &RunJob,
) -> Result<ExitStatus> {
    match outputs.wait(process.ended.as_fd(), None, background, deadline) {
        Ok(Wakeup { ended: true, .. }) => process.reap(),
        Ok(_) => {
            process.kill();
            outputs.take_rest()?;
            let hung = background.hung();
            let because = hung.map_or_else(String::new, |service| format!("; {service}"));
            let (name, limit) = (&job.name, job.limit);
            let message = format!("the program {name} did not end within {limit} s{because}");
            Err(Error::Explained { message, logs: printed(name, outputs) })
        }
        Err(error) => {
            process.kill();
            Err(error)
        }
    }
}

/// The program's outputs, to explain a failure.
fn printed(name: &str, outputs: &Outputs) -> LogTails {
    let both = [("standard output", &outputs.stdout), ("standard error", &outputs.stderr)];
    let both = both.map(|(which, output)| (format!("{name}: {which}"), output.text()));
    both.into_iter().filter(|(_, text)| !text.is_empty()).collect()
}

/// Fails if the program ended otherwise than expected.
fn check(job: &RunJob, status: ExitStatus, outputs: &Outputs) -> Result<()> {
    let Some(expected) = job.expect.filter(|&expected| status.code() != Some(expected)) else {
        return Ok(());
    };
    let how = service::how(status);
    let said = outputs.stderr.text();
    let said = said.lines().rfind(|line| !line.trim().is_empty());
    let said = said.map_or_else(String::new, |line| format!(": {line}"));
    let message = format!("the program {} ended with {how}, not {expected}{said}", job.name);
    Err(Error::Explained { message, logs: printed(&job.name, outputs) })
}
