//! A session: does requests in order, up to the first that fails.
//!
//! Every service must be alive before and after each request.

use std::io::{self, Write};

use rustix::system::uname;

use crate::answer_stream::AnswerStream;
use crate::audit::{self, AuditDaemon, AuditctlOutput};
use crate::error::{Context, Error, Result};
use crate::file_requests::{self, Owner};
use crate::guest::busy_loop::BusyLoop;
use crate::guest::parallel::processors::Measured;
use crate::guest::parallel::session::Parallel;
use crate::log_counts;
use crate::machine::Machine;
use crate::measure::calls::{self, Conditions};
use crate::measure::cpu_affinity::Processors;
use crate::measure::perturbation::Perturbed;
use crate::measure::{command, perf_counters};
use crate::processes::job_timeout;
use crate::processes::wait::Deadline;
use crate::protocol::{Answer, CommandPlan, PROTOCOL_VERSION, Request, What, parse};
use crate::recorders::{Recording, RecordingEpoch};
use crate::whole_system::{self, Background, ServiceList, Watchdog};

/// What lasts from one request to the next.
pub struct Session {
    /// Where the probe runs.
    machine: Machine,
    /// The audit daemon, once asked for.
    audit: Option<AuditDaemon>,
    /// The services that were started.
    services: ServiceList,
    watchdog: Watchdog,
    recording: Option<Recording>,
    /// The perturbation in force.
    perturbed: Perturbed,
    /// How long a job may take.
    seconds: u32,
    /// What keeps the processor busy; paused while something is measured.
    busy_loop: Option<BusyLoop>,
    /// The processors to measure on.
    processors: Processors,
    /// The measured ones of a guest that has several, and what they do once that was asked for.
    several: Option<Measured>,
    parallel: Option<Parallel>,
    out: AnswerStream,
}

impl Session {
    /// A session whose answers go to `out`.
    pub fn new(machine: Machine, out: Box<dyn Write>) -> Self {
        Self {
            machine,
            audit: None,
            services: ServiceList::new(machine),
            watchdog: Watchdog::default(),
            recording: None,
            perturbed: Perturbed::default(),
            seconds: job_timeout::HALF_A_DAY,
            busy_loop: None,
            processors: Processors::default(),
            several: None,
            parallel: None,
            out: AnswerStream::new(out),
        }
    }

    /// The same with another time limit for the job, in seconds.
    pub fn within(self, seconds: u32) -> Self {
        Self { seconds, ..self }
    }

    /// The same with a process that keeps the processor busy while nothing is measured.
    pub fn with_busy_loop(self, busy_loop: Option<BusyLoop>) -> Self {
        Self { busy_loop, ..self }
    }

    /// The same with those processors.
    pub fn on(self, processors: Processors) -> Self {
        Self { processors, ..self }
    }

    /// The same in a guest with several measured processors.
    pub fn with_several(self, several: Option<Measured>) -> Self {
        Self { several, ..self }
    }

    /// Writes one answer.
    fn write(&mut self, answer: &Answer) -> Result<()> {
        self.out.write(answer)
    }

    /// Writes the first answer. `gap`: ticks of the stop for a snapshot.
    pub fn hello(&mut self, gap: Option<u64>) -> Result<()> {
        let kernel = uname().release().to_string_lossy().into_owned();
        let probe = env!("CARGO_PKG_VERSION");
        self.write(&Answer::Hello { protocol: PROTOCOL_VERSION, probe, kernel, gap })
    }

    /// Does a job, one request a line, and writes its end. Returns whether all of it was done.
    pub fn run(&mut self, lines: impl Iterator<Item = io::Result<Vec<u8>>>) -> Result<bool> {
        job_timeout::set(self.seconds)?;
        let mut done = true;
        let full =
            |line: &io::Result<Vec<u8>>| !matches!(line, Ok(line) if line.trim_ascii().is_empty());
        for (index, line) in lines.filter(full).enumerate() {
            let result = line
                .context(|| "reading the job".into())
                .and_then(|line| self.request(index, &line));
            if let Err(error) = result {
                let message = error.to_string();
                self.watchdog.arm_for_logs(index, &message);
                let mut logs = self.services.logs();
                logs.extend(error.logs());
                self.write(&Answer::Error { request: Some(index), message, logs })?;
                done = false;
                break;
            }
        }
        self.services.end();
        self.write(&Answer::End)?;
        Ok(done)
    }

    /// Does one request; all services must be alive before and after it.
    fn request(&mut self, index: usize, line: &[u8]) -> Result<()> {
        self.services.check()?;
        let request = parse(line)?;
        self.arm_watchdog(index, &request);
        let answered = self.answer(request);
        self.watchdog.disarm();
        // A dead service is a better reason than the lack of an answer from it.
        self.services.check()?;
        self.services.reap_orphans();
        answered
    }

    /// Arms the watchdog for a request that a service may block.
    fn arm_watchdog(&mut self, index: usize, request: &Request) {
        let limit = match request {
            Request::Calls { limit, .. } => Some(limit.unwrap_or(self.seconds.into())),
            Request::Command(CommandPlan { limit, runs, .. }) => {
                Some(limit.map_or(self.seconds.into(), |limit| limit * f64::from((*runs).max(1))))
            }
            Request::Run(job) => Some(job.limit),
            Request::Start(job) => Some(job.limit),
            Request::Await { limit, .. } => Some(*limit),
            Request::Stop(job) => Some(job.limit),
            _ => None,
        };
        let services = self.services.list();
        let concerned = matches!(request, Request::Start(_)) || !services.is_empty();
        if self.machine == Machine::Guest && concerned {
            self.watchdog.arm(index, limit, services);
        }
    }

    /// Does one request.
    fn answer(&mut self, request: Request) -> Result<()> {
        let (machine, since) = (self.machine, self.since());
        let answer = match request {
            Request::Make { directories, files } => file_requests::make(&directories, &files)?,
            Request::Install { path, mode, base64, owner, group } => {
                file_requests::install(path, mode, &base64, &Owner { user: owner, group })?
            }
            Request::Write { path, value } => file_requests::write(path, value.as_deref())?,
            Request::Audit { rules, backlog_limit } => self.start_audit(&rules, backlog_limit)?,
            Request::Calls { clock, calls, limit, copies, counters } => {
                let deadline = Deadline::within(limit)?;
                let allocation = self.processors.for_copies(copies)?;
                let (background, out) = self.parts();
                let mut conditions =
                    Conditions { machine, clock, deadline, background, allocation, counters };
                return calls::measure(&mut conditions, &calls, out);
            }
            Request::Counters { names } => {
                let refused = perf_counters::refusal(&names)?;
                Answer::Counters { names, refused }
            }
            Request::Command(plan) => {
                let (mut background, out) = self.parts();
                return command::measure(&plan, machine, &mut background, out);
            }
            Request::Run(job) => whole_system::run(&job, &mut self.parts().0, since)?,
            Request::Start(job) => whole_system::start(job, &mut self.parts().0, since)?,
            Request::Stop(job) => whole_system::stop(&job, &mut self.parts().0)?,
            Request::Mount { path, options } => whole_system::mount(path, &options)?,
            Request::Read { name, path, tail } => file_requests::read_end(name, path, tail)?,
            Request::Count(job) => log_counts::count(job)?,
            Request::Await { name, until, limit } => {
                whole_system::until(name, until, limit, &mut self.parts().0)?
            }
            Request::Parallel { turns } => self.start_parallel(turns)?,
            Request::DropCaches {} => file_requests::drop_caches()?,
            Request::Perturb { number } => {
                self.perturbed = Perturbed::by(number, machine)?;
                Answer::Perturbed { number }
            }
            Request::Watch { what, period } => self.begin_recording(&what, period)?,
            Request::Unwatch {} => self.end_recording()?,
        };
        self.write(&answer)
    }

    fn start_parallel(&mut self, turns: u32) -> Result<Answer> {
        let several = self.several.filter(|_| self.parallel.is_none());
        let Some(measured) = several else {
            return Err(Error::Other("no several processors, or they are at work already".into()));
        };
        let (parallel, started) = Parallel::start(measured, turns)?;
        self.parallel = Some(parallel);
        Ok(Answer::Parallel(started))
    }

    fn begin_recording(&mut self, what: &[What], period: u64) -> Result<Answer> {
        if self.recording.is_some() {
            return Err(Error::Other("there is a watch already".into()));
        }
        self.recording = Some(Recording::begin(what, period, self.machine)?);
        Ok(Answer::Watching {})
    }

    fn end_recording(&mut self) -> Result<Answer> {
        let missing = || Error::Other("unwatch needs watch first".into());
        Ok(Answer::Watched(self.recording.take().ok_or_else(missing)?.end()?))
    }

    /// Becomes the audit daemon, unless it already is, and loads rules.
    fn start_audit(&mut self, rules: &str, backlog_limit: u32) -> Result<Answer> {
        let audit = match &mut self.audit {
            Some(audit) => audit,
            none => none.insert(AuditDaemon::new()?),
        };
        audit.enable(backlog_limit)?;
        let (mut background, _) = self.parts();
        let AuditctlOutput { exit, stdout, stderr } = audit::load(rules, &mut background)?;
        let loaded = background.audit.map_or(Ok(0), AuditDaemon::loaded)?;
        Ok(Answer::Audit { exit, stdout, stderr, loaded })
    }

    /// What needs attention while the probe waits, and the stream of answers.
    fn parts(&mut self) -> (Background<'_>, &mut AnswerStream) {
        let background = Background {
            audit: self.audit.as_mut(),
            services: &mut self.services,
            perturbation: self.perturbed.perturbation,
            busy_loop: self.busy_loop.as_ref(),
            parallel: self.parallel.as_ref(),
        };
        (background, &mut self.out)
    }

    /// When the recording began.
    fn since(&self) -> RecordingEpoch {
        RecordingEpoch(self.recording.as_ref().map(|recording| recording.epoch))
    }
}
