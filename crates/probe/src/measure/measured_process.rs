//! The probe's side of a measured child process.

use std::fs::{self, DirBuilder};
use std::io::ErrorKind;
use std::os::fd::AsFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, chown};
use std::process::{Command, ExitStatus};
use std::time::Duration;

use hardcost_measured::channel::{Identity, Job, Order, Ready, Reply, Task};
use hardcost_measured::cputime::CpuTime;
use hardcost_measured::filelists;
use rustix::process::geteuid;

use crate::cputime::clock_of_process;
use crate::error::{Context, Error, Result};
use crate::measured::{self, Conversation};
use crate::process::Process;
use crate::processors::hold;
use crate::system::Company;
use crate::wait::Deadline;

/// The user and group that measured things run as, where the probe may choose.
const ORDINARY: u32 = 1000;

/// A measured process, which does one task as an ordinary user.
pub struct Child {
    /// The process.
    pub process: Process,
    /// What it had used of the processor when it was ready.
    pub used: CpuTime,
    conversation: Conversation,
    _directory: WorkDirectory,
}

impl Child {
    /// Starts the process, keeping at most `limit` bytes of each of its outputs, and returns when
    /// it is ready to begin.
    pub fn start(
        task: Task,
        limit: usize,
        company: &mut Company<'_>,
        deadline: Deadline,
    ) -> Result<(Self, Identity)> {
        Self::start_on(None, task, limit, company, deadline)
    }

    /// The same, held on a processor if one is named.
    pub fn start_on(
        processor: Option<usize>,
        task: Task,
        limit: usize,
        company: &mut Company<'_>,
        deadline: Deadline,
    ) -> Result<(Self, Identity)> {
        let variable = company.perturbation.variable();
        let start = |command| Process::start(command, variable, limit);
        let mut child = Self::begin(task, processor, start)?;
        match child.hear(company, deadline)? {
            Reply::Ready(Ready { identity, used }) => Ok((Self { used, ..child }, identity)),
            other => Err(unexpected(&other)),
        }
    }

    /// Starts a process that is never ready: it warms up without end on that processor, making the
    /// call over and over. It ends with this process at the latest.
    pub fn start_endless(task: Task, processor: usize, limit: usize) -> Result<Self> {
        Self::begin(task, Some(processor), |command| Process::start_tied(command, None, limit))
    }

    /// Starts the process, and tells it what to prepare.
    fn begin(
        task: Task,
        processor: Option<usize>,
        start: impl FnOnce(Command) -> Result<Process>,
    ) -> Result<Self> {
        let identity = geteuid().is_root().then_some(ORDINARY);
        let directory = WorkDirectory::new(identity)?;
        let (command, conversation) = measured::process()?;
        let process = start(command)?;
        if let Some(processor) = processor {
            hold(Some(process.pid()), processor)?;
        }
        let job = Job { directory: directory.path.clone(), identity, task };
        let used = CpuTime::default();
        let mut child = Self { process, used, conversation, _directory: directory };
        child.tell(&Order::Prepare(job))?;
        Ok(child)
    }

    /// How long the process ran in all, in nanoseconds. That it has said anything, or has gone, is
    /// an error: it should be at work.
    pub fn still_works(&mut self, company: &mut Company<'_>) -> Result<u64> {
        let now = Deadline::NEVER.or_in(Duration::ZERO);
        let woken = self.process.wait(Some(self.conversation.as_fd()), company, now)?;
        if woken.other || woken.ended {
            return Err(unexpected(&self.hear(company, Deadline::NEVER)?));
        }
        Ok(clock_of_process(self.process.pid().as_raw_nonzero().get()).unwrap_or(0))
    }

    /// Tells the child to do something.
    pub fn tell(&mut self, order: &Order) -> Result<()> {
        self.conversation.tell(order)
    }

    /// Waits for the child's next word. That it failed or has gone is an error.
    pub fn hear(&mut self, company: &mut Company<'_>, deadline: Deadline) -> Result<Reply> {
        let woken = self.process.wait(Some(self.conversation.as_fd()), company, deadline)?;
        if !woken.other && !woken.ended {
            return Err(late(company, deadline));
        }
        // What it said before it ended is still there to be read.
        let reply = if woken.other { self.conversation.hear()? } else { None };
        match reply {
            Some(reply) => Ok(reply),
            None => Err(self.gone()?),
        }
    }

    /// The last word of a child that has ended, if that was a failure.
    pub fn failure(&mut self) -> Result<()> {
        match self.conversation.hear()? {
            Some(reply) => Err(unexpected(&reply)),
            None => Ok(()),
        }
    }

    /// Waits for the child's end, reaps it and takes the rest of its output.
    pub fn end(&mut self) -> Result<ExitStatus> {
        let status = self.process.reap()?;
        self.process.outputs.take_rest()?;
        Ok(status)
    }

    /// Tells of a child that ended without a word.
    fn gone(&mut self) -> Result<Error> {
        let status = self.end()?;
        let output = self.process.outputs.stderr.text();
        Ok(Error::Other(format!("the measured process ended early, {status}: {output}")))
    }
}

/// Tells of a reply that does not belong here.
pub fn unexpected(reply: &Reply) -> Error {
    Error::Other(format!("the measured process said {reply:?} out of turn"))
}

/// Tells of what has not ended in time, and of a service that may be why.
pub fn late(company: &mut Company<'_>, deadline: Deadline) -> Error {
    let because = company.hung().map_or_else(String::new, |service| format!("; {service}"));
    Error::Other(format!("what is measured did not end within {} s{because}", deadline.seconds))
}

/// A new working directory, which has the same list of audit rules in each guest. It is removed when
/// this goes away.
struct WorkDirectory {
    path: String,
}

impl WorkDirectory {
    /// Makes the directory, the owner's if one is named.
    fn new(owner: Option<u32>) -> Result<Self> {
        let mut made = Self::anywhere()?;
        for _ in 0..filelists::TRIES {
            if filelists::of(made.inode()?) == filelists::DIRECTORY {
                break;
            }
            drop(made); // so that the next has the same name
            made = Self::anywhere()?;
        }
        chown(&made.path, owner, owner).context(|| made.path.clone())?;
        Ok(made)
    }

    /// Makes a directory with the first name that is free.
    fn anywhere() -> Result<Self> {
        for number in 0.. {
            let path = format!("/tmp/work.{number}");
            match DirBuilder::new().mode(0o755).create(&path) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                result => return result.context(|| path.clone()).map(|()| Self { path }),
            }
        }
        unreachable!("the numbers do not end")
    }

    fn inode(&self) -> Result<u64> {
        Ok(fs::metadata(&self.path).context(|| self.path.clone())?.ino())
    }
}

impl Drop for WorkDirectory {
    fn drop(&mut self) {
        // A process left behind may still be writing there; that is no failure of the measurement.
        let _ = fs::remove_dir_all(&self.path);
    }
}
