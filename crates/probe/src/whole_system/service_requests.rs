//! The requests to start and stop a service, and to wait for a condition.

use std::fs;
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

use rustix::event::PollFlags;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use crate::clock::{Clock, Tsc};
use crate::error::{Context, Error, Result};
use crate::processes::outputs::{OUTPUT_LIMIT, Outputs, Wakeup};
use crate::processes::process_tree;
use crate::processes::wait::Deadline;
use crate::protocol::{Answer, ReadyJob, StartJob, StartedAnswer, StopJob, StoppedAnswer};
use crate::recorders::RecordingEpoch;
use crate::whole_system::background::Background;
use crate::whole_system::program_process::{self, ProgramProcess};
use crate::whole_system::readiness_check::ReadinessCheck;
use crate::whole_system::service::Service;
use crate::whole_system::service_list::died_early;
use crate::whole_system::service_log::ServiceLog;

/// How often to check whether a service has written its process id.
const PAUSE: Duration = Duration::from_millis(5);
/// How long a service may take to answer, in seconds, when something else hangs.
const PATIENCE: f64 = 2.0;
/// How long the kernel may take to kill a process, in seconds.
const KILL: f64 = 10.0;

impl Background<'_> {
    /// The first service that does not answer, in words: a possible reason why something else
    /// hangs.
    pub fn hung(&mut self) -> Option<String> {
        for index in 0..self.services.all.len() {
            let service = &self.services.all[index];
            let (name, ready) = (service.name.clone(), service.ready.clone());
            let deadline = Deadline::after(PATIENCE).ok()?;
            match ready.attempt(self, deadline) {
                Ok(Ok(())) => {}
                Ok(Err(why)) => return Some(does_not_answer(&name, PATIENCE, &why)),
                Err(error) => return Some(error.to_string()),
            }
        }
        None
    }

    /// Waits for the process id of a service that leaves the foreground. From then on that process
    /// is the service's.
    fn adopt(&mut self, name: &str, path: &str, deadline: Deadline) -> Result<()> {
        loop {
            let service = self.services.find(name).ok_or_else(|| no_service(name))?;
            if service.status.is_none() {
                service.reap();
            }
            if service.status.is_some_and(|status| !status.success()) {
                return Err(died_early(service));
            }
            let number = fs::read_to_string(path).unwrap_or_default();
            let pid = number.trim().parse().ok().filter(|&pid| process_tree::is_ours(pid));
            let pid = pid.and_then(Pid::from_raw);
            let opened =
                pid.and_then(|pid| Some((pid, pidfd_open(pid, PidfdFlags::empty()).ok()?)));
            if let Some((pid, ended)) = opened {
                if pid != service.pid {
                    (service.pid, service.status) = (pid, None);
                }
                service.ended = ended;
                service.may_end = false;
                return Ok(());
            }
            if deadline.is_over() {
                let message =
                    format!("the service {name} hung: it wrote no number of its own to {path}");
                return Err(Error::Explained { message, logs: service.logs() });
            }
            self.wait(&[], deadline.or_in(PAUSE))?;
        }
    }
}

fn does_not_answer(name: &str, seconds: f64, why: &str) -> String {
    format!("the service {name} hung: did not answer within {seconds} s: {why}")
}

fn no_service(name: &str) -> Error {
    Error::Other(format!("no service {name} was started"))
}

/// Starts a service and waits until it answers.
pub fn start(
    job: StartJob,
    background: &mut Background<'_>,
    watch: RecordingEpoch,
) -> Result<Answer> {
    let deadline = Deadline::after(job.limit)?;
    let ready = ReadinessCheck::of(job.ready)?;
    if background.services.find(&job.name).is_some() {
        return Err(Error::Other(format!("there is a service {} already", job.name)));
    }
    let mut program = program_process::of_user(&job.argv, &job.user, &job.environment)?;
    program.environment.extend(background.perturbation.variable());
    program.context = job.context;
    program.folder = job.folder;
    let (log, sink) = ServiceLog::new(background.services.path(&job.name, "log")?)?;
    let second = sink.try_clone().context(|| "a pipe".into())?;
    if let Some(path) = &job.pid_file {
        // A file left behind is not of this service.
        let _ = fs::remove_file(path);
    }
    ready.refuse_others(background, deadline)?;
    let mut process = ProgramProcess::prepare(program, (sink, second), background, deadline)?;
    let begin = Tsc::now();
    process.go()?;
    process.begun(background, deadline)?;
    background.services.all.push(Service {
        name: job.name.clone(),
        pid: process.pid(),
        ended: process.ended,
        ready: ready.clone(),
        may_end: job.pid_file.is_some(),
        status: None,
        log,
        logs: job.logs,
    });
    if let Some(path) = &job.pid_file {
        background.adopt(&job.name, path, deadline)?;
    }
    let attempts = ready.wait(background, deadline)?;
    let end = Tsc::now();
    let service = background.services.find(&job.name).ok_or_else(|| no_service(&job.name))?;
    let attempts = attempts.map_err(|why| Error::Explained {
        message: does_not_answer(&job.name, job.limit, &why),
        logs: service.logs(),
    })?;
    Ok(Answer::Started(StartedAnswer {
        name: job.name,
        pid: service.pid.as_raw_nonzero().get(),
        ticks: end.wrapping_sub(begin),
        attempts,
        context: label(service.pid),
        begin: watch.ticks(begin),
        end: watch.ticks(end),
    }))
}

/// The security label of a process; `None` where the kernel gives none.
fn label(pid: Pid) -> Option<String> {
    let path = format!("/proc/{}/attr/current", pid.as_raw_nonzero());
    let text = fs::read_to_string(path).ok()?;
    Some(text.trim_end_matches(['\0', '\n']).to_owned()).filter(|text| !text.is_empty())
}

/// Stops a service, by a program or a signal. One that does not end is killed.
pub fn stop(job: &StopJob, background: &mut Background<'_>) -> Result<Answer> {
    let deadline = Deadline::after(job.limit)?;
    let signal = Signal::from_named_raw(job.signal)
        .ok_or_else(|| Error::Other(format!("{} is no signal", job.signal)))?;
    let service = background.services.find(&job.name).ok_or_else(|| no_service(&job.name))?;
    service.may_end = true;
    let pid = service.pid;
    let ended = service.ended.try_clone().context(|| "a process".into())?;
    let asked = !job.argv.is_empty() && ask(&job.argv, background, deadline)?;
    if !asked {
        kill_process(pid, signal).context(|| format!("stopping {}", job.name))?;
    }
    let wanted = [(ended.as_fd(), PollFlags::IN)];
    let forced = background.wait(&wanted, deadline)? != [true];
    if forced {
        process_tree::kill(pid);
        background.wait(&wanted, Deadline::after(KILL)?)?;
    }
    let all = &mut background.services.all;
    let index = all.iter().position(|service| service.name == job.name);
    let mut service = all.remove(index.ok_or_else(|| no_service(&job.name))?);
    if service.status.is_none() {
        service.reap();
    }
    let killed_by = service.status.and_then(|status| status.signal());
    // It was already dying of something else when it was stopped.
    if !asked && !forced && killed_by.is_some_and(|by| by != job.signal) {
        return Err(died_early(&mut service));
    }
    Ok(Answer::Stopped(StoppedAnswer {
        logs: service.logs(),
        name: service.name,
        status: service.status.and_then(|status| status.code()),
        signal: killed_by,
        forced,
    }))
}

/// Runs the program that stops a service. Returns whether it succeeded.
fn ask(argv: &[String], background: &mut Background<'_>, deadline: Deadline) -> Result<bool> {
    let (mut outputs, sinks) = Outputs::new(OUTPUT_LIMIT)?;
    let mut process =
        ProgramProcess::prepare(program_process::of_system(argv)?, sinks, background, deadline)?;
    process.go()?;
    match outputs.wait(process.ended.as_fd(), None, background, deadline) {
        Ok(Wakeup { ended: true, .. }) => Ok(process.reap()?.success()),
        otherwise => {
            process.kill();
            otherwise.map(|_| false)
        }
    }
}
/// Waits for a condition. Fails if it does not hold in time.
pub fn until(
    name: String,
    job: ReadyJob,
    limit: f64,
    background: &mut Background<'_>,
) -> Result<Answer> {
    let deadline = Deadline::after(limit)?;
    match ReadinessCheck::of(job)?.wait(background, deadline)? {
        Ok(_) => Ok(Answer::Awaited { name }),
        Err(why) => Err(Error::Other(format!("{name} did not come within {limit} s: {why}"))),
    }
}
