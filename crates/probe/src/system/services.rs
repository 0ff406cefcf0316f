//! The services of a session, and the requests to start and to stop one.

use std::fs;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, getpid, kill_process, pidfd_open, set_child_subreaper,
    wait,
};

use super::company::Company;
use super::logs::Logs;
use super::program::{Process, Program};
use super::ready::Ready;
use super::run;
use super::service::{Log, Service};
use super::since::Since;
use crate::clock::{Clock, Tsc};
use crate::error::{Context, Error, Result};
use crate::outputs::Outputs;
use crate::place::Place;
use crate::protocol::{Answer, StartJob, StartedAnswer, StopJob, StoppedAnswer};
use crate::tree;
use crate::wait::Deadline;

/// Where a guest keeps what services print.
pub const FOLDER: &str = "/run/hardcost";
/// How often to look whether a service has written its number.
const PAUSE: Duration = Duration::from_millis(5);
/// How long a service may take to answer when another thing hangs, in seconds.
const PATIENCE: f64 = 2.0;
/// How long the kernel may take to kill what is killed, in seconds.
const KILL: f64 = 10.0;

/// The services of a session.
pub struct Services {
    place: Place,
    folder: PathBuf,
    is_prepared: bool,
    all: Vec<Service>,
}

impl Services {
    /// No services yet.
    pub fn new(place: Place) -> Self {
        let folder = match place {
            Place::Guest => FOLDER.into(),
            Place::Host => std::env::temp_dir().join(format!("hardcost.{}", std::process::id())),
        };
        Self { place, folder, is_prepared: false, all: Vec::new() }
    }

    /// The file of that kind that belongs to a program or service of that name.
    pub fn path(&mut self, name: &str, kind: &str) -> Result<String> {
        if name.is_empty() || name.starts_with('.') || name.contains(['/', '\0']) {
            return Err(Error::Other(format!("{name:?} is no name")));
        }
        self.prepare()?;
        Ok(self.folder.join(format!("{name}.{kind}")).to_string_lossy().into_owned())
    }

    fn prepare(&mut self) -> Result<()> {
        if !self.is_prepared {
            let made = match self.place {
                Place::Guest => fs::create_dir_all(&self.folder),
                // One that is there already may be somebody's trap.
                Place::Host => fs::create_dir(&self.folder),
            };
            made.context(|| self.folder.display().to_string())?;
            // As for process 1: what loses its parent becomes ours, so that its end can be told.
            set_child_subreaper(Some(getpid())).context(|| "adopting orphans".into())?;
            self.is_prepared = true;
        }
        Ok(())
    }

    /// What to wait for on their behalf.
    pub fn sources(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.all.iter().flat_map(Service::sources)
    }

    /// Takes what they have printed; does not wait.
    pub fn take(&mut self) {
        self.all.iter_mut().for_each(Service::take);
    }

    /// Makes sure that all are alive.
    #[expect(clippy::disallowed_methods, reason = "it only looks")]
    pub fn check(&mut self) -> Result<()> {
        let watched = self.all.iter_mut().filter(|service| !service.may_end);
        let mut watched: Vec<_> = watched.collect();
        if watched.is_empty() {
            return Ok(());
        }
        let ends = watched.iter().map(|service| service.ended.as_fd());
        let mut ends: Vec<_> = ends.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
        poll(&mut ends, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))
            .context(|| "looking after services".into())?;
        let died = ends.iter().position(|end| !end.revents().is_empty());
        drop(ends);
        match died {
            Some(index) => Err(died_early(watched.remove(index))),
            None => Ok(()),
        }
    }

    /// The ends of all logs.
    pub fn logs(&mut self) -> Logs {
        self.all.iter_mut().flat_map(Service::logs).collect()
    }

    /// Takes leave of processes that outlived the one that started them.
    pub fn reap_orphans(&mut self) {
        if self.place == Place::Host && !self.is_prepared {
            return;
        }
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            let ours = self.all.iter_mut().find(|service| service.pid == pid);
            if let Some(service) = ours {
                service.status = Some(ExitStatus::from_raw(status.as_raw()));
            }
        }
    }

    /// Ends what was not stopped. A guest ends as a whole.
    pub fn end(&mut self) {
        if self.place == Place::Host && self.is_prepared {
            // The number of one that was reaped may be another's by now.
            let alive = self.all.iter().rev().filter(|service| service.status.is_none());
            alive.for_each(|service| tree::kill(service.pid));
            let _ = fs::remove_dir_all(&self.folder);
        }
    }

    /// Names and processes of those that were started, where the guest has any.
    pub fn list(&self) -> Vec<(String, i32)> {
        let all = self.all.iter();
        all.map(|service| (service.name.clone(), service.pid.as_raw_nonzero().get())).collect()
    }

    fn find(&mut self, name: &str) -> Option<&mut Service> {
        self.all.iter_mut().find(|service| service.name == name)
    }
}

/// Tells of a service that has ended and should not have.
fn died_early(service: &mut Service) -> Error {
    service.may_end = true;
    service.reap();
    let how = service.status.map_or_else(String::new, |status| format!(": {}", run::tell(status)));
    let message = format!("the service {} died{how}", service.name);
    Error::Explained { message, logs: service.logs() }
}

impl Company<'_> {
    /// Which service does not answer, in words; to be asked when something else hangs.
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

    /// Waits for the number of a service that leaves the foreground, and looks after that process
    /// from then on.
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
            let pid = number.trim().parse().ok().filter(|&pid| tree::is_ours(pid));
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
pub fn start(job: StartJob, company: &mut Company<'_>, watch: Since) -> Result<Answer> {
    let deadline = Deadline::after(job.limit)?;
    let ready = Ready::of(job.ready)?;
    if company.services.find(&job.name).is_some() {
        return Err(Error::Other(format!("there is a service {} already", job.name)));
    }
    let mut program = Program::of(&job.argv, &job.user, &job.environment)?;
    program.context = job.context;
    program.folder = job.folder;
    let (log, sink) = Log::new(company.services.path(&job.name, "log")?)?;
    let second = sink.try_clone().context(|| "a pipe".into())?;
    if let Some(path) = &job.pid_file {
        // One that was left behind is not this service's.
        let _ = fs::remove_file(path);
    }
    ready.refuse_others(company, deadline)?;
    let mut process = Process::prepare(program, (sink, second), company, deadline)?;
    let begin = Tsc::now();
    process.go()?;
    process.begun(company, deadline)?;
    company.services.all.push(Service {
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
        company.adopt(&job.name, path, deadline)?;
    }
    let attempts = ready.wait(company, deadline)?;
    let end = Tsc::now();
    let service = company.services.find(&job.name).ok_or_else(|| no_service(&job.name))?;
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

/// Stops a service, by a program or a signal; one that stays is killed.
pub fn stop(job: &StopJob, company: &mut Company<'_>) -> Result<Answer> {
    let deadline = Deadline::after(job.limit)?;
    let signal = Signal::from_named_raw(job.signal)
        .ok_or_else(|| Error::Other(format!("{} is no signal", job.signal)))?;
    let service = company.services.find(&job.name).ok_or_else(|| no_service(&job.name))?;
    service.may_end = true;
    let pid = service.pid;
    let ended = service.ended.try_clone().context(|| "a process".into())?;
    let asked = !job.argv.is_empty() && ask(&job.argv, company, deadline)?;
    if !asked {
        kill_process(pid, signal).context(|| format!("stopping {}", job.name))?;
    }
    let wanted = [(ended.as_fd(), PollFlags::IN)];
    let forced = company.wait(&wanted, deadline)? != [true];
    if forced {
        tree::kill(pid);
        company.wait(&wanted, Deadline::after(KILL)?)?;
    }
    let all = &mut company.services.all;
    let index = all.iter().position(|service| service.name == job.name);
    let mut service = all.remove(index.ok_or_else(|| no_service(&job.name))?);
    if service.status.is_none() {
        service.reap();
    }
    Ok(Answer::Stopped(StoppedAnswer {
        logs: service.logs(),
        name: service.name,
        status: service.status.and_then(|status| status.code()),
        signal: service.status.and_then(|status| status.signal()),
        forced,
    }))
}

/// Runs the program that stops a service; whether it succeeded.
fn ask(argv: &[String], company: &mut Company<'_>, deadline: Deadline) -> Result<bool> {
    let (mut outputs, sinks) = Outputs::new(run::OUTPUT_LIMIT)?;
    let mut process = Process::prepare(Program::new(argv)?, sinks, company, deadline)?;
    process.go()?;
    match run::wait(&process, &mut outputs, company, deadline) {
        Ok(true) => Ok(process.reap()?.success()),
        otherwise => {
            process.kill();
            otherwise
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::Services;
    use crate::place::Place;

    #[test]
    fn a_folder_that_somebody_else_made_is_not_used() {
        let mut services = Services::new(Place::Host);
        services.folder =
            std::env::temp_dir().join(format!("hardcost-trap.{}", std::process::id()));
        fs::create_dir(&services.folder).expect("room");
        let error = services.path("web", "log").expect_err("it is there").to_string();
        assert!(error.contains("File exists"), "{error}");
        services.end();
        fs::remove_dir(&services.folder).expect("left alone");
        services.path("web", "log").expect("made");
        services.end();
        assert!(!services.folder.exists());
        assert!(services.path("../web", "log").is_err());
    }
}
