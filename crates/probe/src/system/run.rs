//! The request to run a program to its end.

use std::fs;
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use rustix::event::PollFlags;

use super::company::{Company, Deadline};
use super::job::RunJob;
use super::logs::Logs;
use super::program::{Process, Program};
use crate::capture::Capture;
use crate::clock::{Clock, Tsc};
use crate::cputime::CpuTime;
use crate::error::{Context, Error, Result};
use crate::protocol::{Answer, RanAnswer};
use crate::session::Session;

/// How much of each of the program's outputs to report, in bytes.
const OUTPUT_LIMIT: usize = 64 << 10;

/// What a program prints.
pub struct Outputs {
    /// On its standard output.
    pub stdout: Capture,
    /// On its standard error.
    pub stderr: Capture,
}

impl Outputs {
    /// Captures, and the ends to give to the program.
    pub fn new() -> Result<(Self, (std::os::fd::OwnedFd, std::os::fd::OwnedFd))> {
        let capture = || Capture::new(OUTPUT_LIMIT).context(|| "a pipe".into());
        let ((stdout, out), (stderr, err)) = (capture()?, capture()?);
        Ok((Self { stdout, stderr }, (out, err)))
    }

    /// Takes what was left in them. Those who inherited them may hold them open.
    pub fn take_rest(&mut self) -> Result<()> {
        let rest = self.stdout.take_rest().and_then(|()| self.stderr.take_rest());
        rest.context(|| "reading a program's output".into())
    }

    /// What was printed, to explain a failure.
    fn logs(&self, name: &str) -> Logs {
        let of = |which: &str, output: &Capture| (format!("{name}: {which}"), output.text());
        let both = [of("standard output", &self.stdout), of("standard error", &self.stderr)];
        both.into_iter().filter(|(_, text)| !text.is_empty()).collect()
    }
}

/// Runs a program to its end; with a clock, measures it from just before its start to its being
/// reaped.
pub fn run(session: &mut Session, job: &RunJob) -> Result<Answer> {
    let deadline = Deadline::after(job.limit)?;
    let program = program(session, job)?;
    let epoch = session.epoch();
    let (mut outputs, sinks) = Outputs::new()?;
    let mut company = session.company();
    let mut process = Process::prepare(program, sinks, &mut company, deadline)?;
    let counted = company.audit.as_deref_mut().filter(|_| job.clock.is_some());
    let counted = counted.map(|audit| audit.begin(process.session)).transpose()?.is_some();
    let before = CpuTime::reaped();
    let begin = Tsc::now();
    let start = job.clock.map(|clock| (clock, clock.now()));
    process.go()?;
    let status = end(&mut process, &mut outputs, &mut company, deadline, job)?;
    let ticks = start.map(|(clock, start)| clock.now().wrapping_sub(start));
    let end = Tsc::now();
    // Nothing else was reaped since, and what it used before it was told to go is not its own.
    let used = CpuTime::reaped().since(before).since(process.used);
    outputs.take_rest()?;
    process.failure()?;
    let audit = company.audit.filter(|_| counted);
    let audit = audit.map(crate::audit::Audit::finish).transpose()?;
    check(job, status, &outputs)?;
    Ok(Answer::Ran(RanAnswer {
        name: job.name.clone(),
        status: status.code(),
        signal: status.signal(),
        ticks,
        user: used.user,
        system: used.system,
        stdout: outputs.stdout.text(),
        stdout_bytes: outputs.stdout.total(),
        stderr: outputs.stderr.text(),
        stderr_bytes: outputs.stderr.total(),
        begin: epoch.map(|epoch| begin.wrapping_sub(epoch)),
        end: epoch.map(|epoch| end.wrapping_sub(epoch)),
        audit,
    }))
}

/// The program that is asked for; what it is to read lies in a file.
fn program(session: &mut Session, job: &RunJob) -> Result<Program> {
    let mut program = Program::of(&job.argv, &job.user, &job.environment)?;
    program.login = job.login;
    program.context.clone_from(&job.context);
    program.folder.clone_from(&job.folder);
    if !job.stdin.is_empty() {
        let path = session.services.path(&job.name, "in")?;
        fs::write(&path, &job.stdin).context(|| path.clone())?;
        program.stdin = Some(path);
    }
    Ok(program)
}

/// Waits for the program's end, and reaps it. One that takes too long is killed.
fn end(
    process: &mut Process,
    outputs: &mut Outputs,
    company: &mut Company<'_>,
    deadline: Deadline,
    job: &RunJob,
) -> Result<ExitStatus> {
    match wait(process, outputs, company, deadline) {
        Ok(true) => process.reap(),
        Ok(false) => {
            process.kill();
            outputs.take_rest()?;
            let hung = company.hung();
            let because = hung.map_or_else(String::new, |service| format!("; {service}"));
            let (name, limit) = (&job.name, job.limit);
            let message = format!("the program {name} did not end within {limit} s{because}");
            Err(Error::Explained { message, logs: outputs.logs(name) })
        }
        Err(error) => {
            process.kill();
            Err(error)
        }
    }
}

/// Waits for a program's end and takes its output meanwhile; false: it takes too long.
pub fn wait(
    process: &Process,
    outputs: &mut Outputs,
    company: &mut Company<'_>,
    deadline: Deadline,
) -> Result<bool> {
    loop {
        let stdout = outputs.stdout.source();
        let sources = [Some(process.ended.as_fd()), stdout, outputs.stderr.source()];
        let wanted: Vec<_> = sources.iter().flatten().map(|&fd| (fd, PollFlags::IN)).collect();
        let has_stdout = stdout.is_some();
        let ready = company.wait(&wanted, deadline)?;
        if ready[0] {
            return Ok(true);
        }
        if !ready.contains(&true) {
            return Ok(false);
        }
        let taken = if has_stdout && ready[1] { outputs.stdout.take() } else { Ok(()) };
        let last = ready.len() - 1;
        let has_more = last > usize::from(has_stdout) && ready[last];
        let taken = taken.and_then(|()| if has_more { outputs.stderr.take() } else { Ok(()) });
        taken.context(|| "reading a program's output".into())?;
    }
}

/// Refuses another end than the expected one.
fn check(job: &RunJob, status: ExitStatus, outputs: &Outputs) -> Result<()> {
    let Some(expected) = job.expect.filter(|&expected| status.code() != Some(expected)) else {
        return Ok(());
    };
    let how = tell(status);
    let said = outputs.stderr.text();
    let said = said.lines().rfind(|line| !line.trim().is_empty());
    let said = said.map_or_else(String::new, |line| format!(": {line}"));
    let message = format!("the program {} ended with {how}, not {expected}{said}", job.name);
    Err(Error::Explained { message, logs: outputs.logs(&job.name) })
}

/// How something ended, in words.
pub fn tell(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("status {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "an unknown status".into(),
    }
}
