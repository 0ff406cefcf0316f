//! A session: requests are done in order, up to the first that fails.

use std::ffi::CString;
use std::io::{self, Write};
use std::time::Duration;

use rustix::system::uname;

use crate::ascii::write_line;
use crate::audit::Audit;
use crate::clock::ClockName;
use crate::error::{Context, Error, Result};
use crate::files::Owner;
use crate::pace::Pace;
use crate::protocol::{Answer, PROTOCOL_VERSION, Request, parse};
use crate::system::{self, Company, Guard, Services};
use crate::watch::{Watch, What};
use crate::{command, files, guest, measure, root};

/// Where the probe runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// As process 1 of a guest that is there for nothing else.
    Guest,
    /// On a machine that others use too.
    Host,
}

impl Place {
    /// The program that ends at once when executed under the name `noop`.
    pub fn noop(self) -> CString {
        match self {
            Self::Guest if root::has_noop() => root::NOOP.into(),
            Self::Guest => c"/bin/noop".into(),
            Self::Host => c"/proc/self/exe".into(),
        }
    }
}

/// What lasts from one request to the next.
pub struct Session {
    /// Where the probe runs.
    pub place: Place,
    /// The audit daemon, once asked for.
    pub audit: Option<Audit>,
    /// The services that were started.
    pub services: Services,
    guard: Guard,
    watch: Option<Watch>,
    out: Box<dyn Write>,
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
            out,
        }
    }

    /// When a measured call's windows begin.
    ///
    /// A guest has one processor. What a window leaves behind for others, such as records for the
    /// audit daemon, is done while the call sleeps, and not in the midst of some later window. In
    /// an idle guest under the instruction counter sleep takes no time; a real clock, or a guest
    /// that is kept busy, would take as long as that says. On a host there are other processors for
    /// that, and sleep would only leave the call with cold caches.
    pub fn pace(&self, clock: ClockName) -> Pace {
        match (self.place, clock) {
            (Place::Host, _) => Pace::None,
            (Place::Guest, ClockName::Tsc) if !guest::boot_line().spins => Pace::Tick,
            (Place::Guest, _) => Pace::Pause(Duration::from_millis(1)),
        }
    }

    /// Says one thing.
    pub fn say(&mut self, answer: &Answer) -> Result<()> {
        write_line(&mut *self.out, answer).context(|| "writing an answer".into())
    }

    /// Says who is there. `gap`: ticks of the stop for a snapshot.
    pub fn hello(&mut self, gap: Option<u64>) -> Result<()> {
        let kernel = uname().release().to_string_lossy().into_owned();
        let probe = env!("CARGO_PKG_VERSION");
        self.say(&Answer::Hello { protocol: PROTOCOL_VERSION, probe, kernel, gap })
    }

    /// Does a job, one request a line, and says when it is over. Whether all of it was done.
    pub fn run(&mut self, lines: impl Iterator<Item = io::Result<Vec<u8>>>) -> Result<bool> {
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
            Request::Calls { .. } | Request::Command(_) => return,
            Request::Run(job) => Some(job.limit),
            Request::Start(job) => Some(job.limit),
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
        let answer = match request {
            Request::Make { directories, files } => files::make(&directories, &files)?,
            Request::Install { path, mode, base64, owner, group } => {
                files::install(path, mode, &base64, &Owner { user: owner, group })?
            }
            Request::Write { path, value } => files::write(path, value.as_deref())?,
            Request::Audit { rules, backlog_limit } => self.start_audit(&rules, backlog_limit)?,
            Request::Calls { clock, calls } => return measure::calls(self, clock, &calls),
            Request::Command(plan) => return command::measure(self, &plan),
            Request::Run(job) => system::run(self, &job)?,
            Request::Start(job) => system::start(self, job)?,
            Request::Stop(job) => system::stop(self, &job)?,
            Request::Mount { path, options } => system::mount(path, &options)?,
            Request::Read { name, path, tail } => files::tell(name, path, tail)?,
            Request::DropCaches {} => files::drop_caches()?,
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
        audit.load(rules)
    }

    /// All that goes on beside what is waited for.
    pub fn company(&mut self) -> Company<'_> {
        Company { audit: self.audit.as_mut(), services: &mut self.services }
    }

    /// What the time-stamp counter said when the watch began; `None` without a watch.
    pub fn epoch(&self) -> Option<u64> {
        self.watch.as_ref().map(|watch| watch.epoch)
    }

    /// A reading of the time-stamp counter as ticks since the watch; `None` without one.
    pub fn since_watch(&self, ticks: u64) -> Option<u64> {
        self.epoch().map(|epoch| ticks.wrapping_sub(epoch))
    }
}
