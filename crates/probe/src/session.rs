//! A session: requests are done in order, up to the first that fails.

use std::io::{self, Write};

use rustix::system::uname;

use crate::alarm;
use crate::audit::{self, Audit, Said};
use crate::error::{Context, Error, Result};
use crate::files::Owner;
use crate::measure::Bench;
use crate::out::Out;
use crate::perturb::Perturbed;
use crate::place::Place;
use crate::processors::Processors;
use crate::protocol::{Answer, CommandPlan, PROTOCOL_VERSION, Request, What, parse};
use crate::spinner::Spinner;
use crate::system::{self, Company, Guard, Services, Since};
use crate::wait::Deadline;
use crate::watch::Watch;
use crate::{command, counters, files, measure, tally};

/// What lasts from one request to the next.
pub struct Session {
    /// Where the probe runs.
    place: Place,
    /// The audit daemon, once asked for.
    audit: Option<Audit>,
    /// The services that were started.
    services: Services,
    guard: Guard,
    watch: Option<Watch>,
    /// What is changed that means nothing.
    perturbed: Perturbed,
    /// How long a job may take.
    seconds: u32,
    /// What is halted while something is measured.
    spinner: Option<Spinner>,
    /// Where it is measured.
    processors: Processors,
    out: Out,
}

impl Session {
    /// A session whose answers go to `out`.
    pub fn new(place: Place, out: Box<dyn Write>) -> Self {
        Self {
            place,
            audit: None,
            services: Services::new(place),
            guard: Guard::default(),
            watch: None,
            perturbed: Perturbed::default(),
            seconds: alarm::HALF_A_DAY,
            spinner: None,
            processors: Processors::default(),
            out: Out::new(out),
        }
    }

    /// The same with other time for a job, in seconds.
    pub fn within(self, seconds: u32) -> Self {
        Self { seconds, ..self }
    }

    /// The same with a process that keeps the processor busy while nothing is measured.
    pub fn beside(self, spinner: Option<Spinner>) -> Self {
        Self { spinner, ..self }
    }

    /// The same on other processors than this process may use anyway.
    pub fn on(self, processors: Processors) -> Self {
        Self { processors, ..self }
    }

    /// Says one thing.
    fn say(&mut self, answer: &Answer) -> Result<()> {
        self.out.say(answer)
    }

    /// Says who is there. `gap`: ticks of the stop for a snapshot.
    pub fn hello(&mut self, gap: Option<u64>) -> Result<()> {
        let kernel = uname().release().to_string_lossy().into_owned();
        let probe = env!("CARGO_PKG_VERSION");
        self.say(&Answer::Hello { protocol: PROTOCOL_VERSION, probe, kernel, gap })
    }

    /// Does a job, one request a line, and says when it is over. Whether all of it was done.
    pub fn run(&mut self, lines: impl Iterator<Item = io::Result<Vec<u8>>>) -> Result<bool> {
        alarm::set(self.seconds)?;
        let mut done = true;
        let full =
            |line: &io::Result<Vec<u8>>| !matches!(line, Ok(line) if line.trim_ascii().is_empty());
        for (index, line) in lines.filter(full).enumerate() {
            let result = line
                .context(|| "reading the job".into())
                .and_then(|line| self.request(index, &line));
            if let Err(error) = result {
                let message = error.to_string();
                self.guard.watch_logs(index, &message);
                let mut logs = self.services.logs();
                logs.extend(error.logs());
                self.say(&Answer::Error { request: Some(index), message, logs })?;
                done = false;
                break;
            }
        }
        self.services.end();
        self.say(&Answer::End)?;
        Ok(done)
    }

    /// Does one request; all services must be alive before and after it.
    fn request(&mut self, index: usize, line: &[u8]) -> Result<()> {
        self.services.check()?;
        let request = parse(line)?;
        self.call_guard(index, &request);
        let answered = self.answer(request);
        self.guard.rest();
        // Why a service died says more than that somebody got no answer from it.
        self.services.check()?;
        self.services.reap_orphans();
        answered
    }

    /// Has somebody watch over a request that a service may hold up.
    fn call_guard(&mut self, index: usize, request: &Request) {
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
        if self.place == Place::Guest && concerned {
            self.guard.watch(index, limit, services);
        }
    }

    /// Does one request.
    fn answer(&mut self, request: Request) -> Result<()> {
        let (place, since) = (self.place, self.since());
        let answer = match request {
            Request::Make { directories, files } => files::make(&directories, &files)?,
            Request::Install { path, mode, base64, owner, group } => {
                files::install(path, mode, &base64, &Owner { user: owner, group })?
            }
            Request::Write { path, value } => files::write(path, value.as_deref())?,
            Request::Audit { rules, backlog_limit } => self.start_audit(&rules, backlog_limit)?,
            Request::Calls { clock, calls, limit, copies, counters } => {
                let deadline = Deadline::within(limit)?;
                let allotted = self.processors.beside(copies)?;
                let (company, out) = self.parts();
                let mut bench = Bench { place, clock, deadline, company, allotted, counters };
                return measure::calls(&mut bench, &calls, out);
            }
            Request::Counters { names } => {
                let refused = counters::refusal(&names)?;
                Answer::Counters { names, refused }
            }
            Request::Command(plan) => {
                let (mut company, out) = self.parts();
                return command::measure(&plan, place, &mut company, out);
            }
            Request::Run(job) => system::run(&job, &mut self.parts().0, since)?,
            Request::Start(job) => system::start(job, &mut self.parts().0, since)?,
            Request::Stop(job) => system::stop(&job, &mut self.parts().0)?,
            Request::Mount { path, options } => system::mount(path, &options)?,
            Request::Read { name, path, tail } => files::tell(name, path, tail)?,
            Request::Count(job) => tally::count(job)?,
            Request::Await { name, until, limit } => {
                system::until(name, until, limit, &mut self.parts().0)?
            }
            Request::DropCaches {} => files::drop_caches()?,
            Request::Perturb { number } => {
                self.perturbed = Perturbed::by(number, place)?;
                Answer::Perturbed { number }
            }
            Request::Watch { what, period } => self.begin_watch(&what, period)?,
            Request::Unwatch {} => self.end_watch()?,
        };
        self.say(&answer)
    }

    fn begin_watch(&mut self, what: &[What], period: u64) -> Result<Answer> {
        if self.watch.is_some() {
            return Err(Error::Other("there is a watch already".into()));
        }
        self.watch = Some(Watch::begin(what, period, self.place)?);
        Ok(Answer::Watching {})
    }

    fn end_watch(&mut self) -> Result<Answer> {
        let missing = || Error::Other("unwatch needs watch first".into());
        Ok(Answer::Watched(self.watch.take().ok_or_else(missing)?.end()?))
    }

    /// Becomes the audit daemon, unless it is that already, and loads rules.
    fn start_audit(&mut self, rules: &str, backlog_limit: u32) -> Result<Answer> {
        let audit = match &mut self.audit {
            Some(audit) => audit,
            none => none.insert(Audit::new()?),
        };
        audit.enable(backlog_limit)?;
        let (mut company, _) = self.parts();
        let Said { exit, stdout, stderr } = audit::load(rules, &mut company)?;
        let loaded = company.audit.map_or(Ok(0), Audit::loaded)?;
        Ok(Answer::Audit { exit, stdout, stderr, loaded })
    }

    /// All that goes on beside what is waited for, and where answers go.
    fn parts(&mut self) -> (Company<'_>, &mut Out) {
        let company = Company {
            audit: self.audit.as_mut(),
            services: &mut self.services,
            perturbation: self.perturbed.perturbation,
            spinner: self.spinner.as_ref(),
        };
        (company, &mut self.out)
    }

    /// Since when it is watched.
    fn since(&self) -> Since {
        Since(self.watch.as_ref().map(|watch| watch.epoch))
    }
}
