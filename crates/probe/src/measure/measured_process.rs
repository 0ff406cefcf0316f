//! A measured process as the probe sees it: started, given orders, waited for.

use std::fs::{self, DirBuilder};
use std::io::ErrorKind;
use std::os::fd::AsFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, chown};
use std::process::{Command, ExitStatus};
use std::time::Duration;

use hardcost_measured::audit_inode_buckets::{DIRECTORY_BUCKET, numbers_until};
use hardcost_measured::channel::{Identity, Job, Order, Ready, Reply, Task};
use hardcost_measured::cpu_time::CpuTime;
use rustix::fs::{Mode, OFlags, open};
use rustix::process::geteuid;

use crate::error::{Context, Error, Result};
use crate::measure::cpu_affinity::pin;
use crate::processes::child_process::ChildProcess;
use crate::processes::cpu_clocks::clock_of_process;
use crate::processes::measured_program::{self, Conversation};
use crate::processes::wait::Deadline;
use crate::whole_system::Background;

/// The user and group of measured processes, where the probe may choose.
const ORDINARY: u32 = 1000;
/// Where their working directories are.
const PARENT: &str = "/tmp";
/// How often to make a directory again for its inode number: others may use up numbers meanwhile,
/// and some file systems reuse them.
const ATTEMPTS: u32 = 4;

/// A measured process, which does one task as an ordinary user.
pub struct MeasuredProcess {
    /// The process.
    pub child: ChildProcess,
    /// What it had used of the processor when it was ready.
    pub used: CpuTime,
    conversation: Conversation,
    _directory: WorkDirectory,
}

impl MeasuredProcess {
    /// Starts the process, keeping at most `limit` bytes of each of its outputs, and waits until it
    /// is ready to begin.
    pub fn start(
        task: Task,
        limit: usize,
        background: &mut Background<'_>,
        deadline: Deadline,
    ) -> Result<(Self, Identity)> {
        Self::start_on(None, task, limit, background, deadline)
    }

    /// The same, pinned to a processor if one is named.
    pub fn start_on(
        processor: Option<usize>,
        task: Task,
        limit: usize,
        background: &mut Background<'_>,
        deadline: Deadline,
    ) -> Result<(Self, Identity)> {
        let variable = background.perturbation.variable();
        let start = |command| ChildProcess::start(command, variable, limit);
        let mut process = Self::begin(task, processor, start)?;
        match process.receive(background, deadline)? {
            Reply::Ready(Ready { identity, used }) => Ok((Self { used, ..process }, identity)),
            other => Err(unexpected(&other)),
        }
    }

    /// Starts a process that is never ready: it warms up endlessly on that processor, making the
    /// call. The kernel kills it when this process ends.
    pub fn start_endless(task: Task, processor: usize, limit: usize) -> Result<Self> {
        Self::begin(task, Some(processor), |command| ChildProcess::start_tied(command, None, limit))
    }

    /// Starts the process, and sends it its task.
    fn begin(
        task: Task,
        processor: Option<usize>,
        start: impl FnOnce(Command) -> Result<ChildProcess>,
    ) -> Result<Self> {
        let identity = geteuid().is_root().then_some(ORDINARY);
        let directory = WorkDirectory::new(identity)?;
        let (command, conversation) = measured_program::command()?;
        let child = start(command)?;
        if let Some(processor) = processor {
            pin(Some(child.pid()), processor)?;
        }
        let job = Job { directory: directory.path.clone(), identity, task };
        let used = CpuTime::default();
        let mut process = Self { child, used, conversation, _directory: directory };
        process.send(&Order::Prepare(job))?;
        Ok(process)
    }

    /// How long the process ran, in nanoseconds. A reply or its end is an error: it should be at
    /// work.
    pub fn still_works(&mut self, background: &mut Background<'_>) -> Result<u64> {
        let now = Deadline::NEVER.or_in(Duration::ZERO);
        let woken = self.child.wait(Some(self.conversation.as_fd()), background, now)?;
        if woken.other || woken.ended {
            return Err(unexpected(&self.receive(background, Deadline::NEVER)?));
        }
        Ok(clock_of_process(self.child.pid().as_raw_nonzero().get()).unwrap_or(0))
    }

    /// Sends an order.
    pub fn send(&mut self, order: &Order) -> Result<()> {
        self.conversation.send(order)
    }

    /// Waits for the next reply. Its failure or end is an error.
    pub fn receive(
        &mut self,
        background: &mut Background<'_>,
        deadline: Deadline,
    ) -> Result<Reply> {
        let woken = self.child.wait(Some(self.conversation.as_fd()), background, deadline)?;
        if !woken.other && !woken.ended {
            return Err(late(background, deadline));
        }
        // A reply from before its end can still be read.
        let reply = if woken.other { self.conversation.receive()? } else { None };
        match reply {
            Some(reply) => Ok(reply),
            None => Err(self.gone()?),
        }
    }

    /// The failure that a process reported before it ended, if any.
    pub fn failure(&mut self) -> Result<()> {
        match self.conversation.receive()? {
            Some(reply) => Err(unexpected(&reply)),
            None => Ok(()),
        }
    }

    /// Waits for the child's end, reaps it and takes the rest of its output.
    pub fn end(&mut self) -> Result<ExitStatus> {
        let status = self.child.reap()?;
        self.child.outputs.take_rest()?;
        Ok(status)
    }

    /// The error of a process that ended without a reply.
    fn gone(&mut self) -> Result<Error> {
        let status = self.end()?;
        let output = self.child.outputs.stderr.text();
        Ok(Error::Other(format!("the measured process ended early, {status}: {output}")))
    }
}

/// The error of a reply that was not expected.
pub fn unexpected(reply: &Reply) -> Error {
    Error::Other(format!("the measured process said {reply:?} out of turn"))
}

/// The error of a timeout, with a service that may be its reason.
pub fn late(background: &mut Background<'_>, deadline: Deadline) -> Error {
    let because = background.hung().map_or_else(String::new, |service| format!("; {service}"));
    Error::Other(format!("what is measured did not end within {} s{because}", deadline.seconds))
}

/// A new working directory, in the same bucket of audit rules in each guest. It is removed when
/// this is dropped.
struct WorkDirectory {
    path: String,
}

impl WorkDirectory {
    /// Makes the directory, for the owner if one is named.
    fn new(owner: Option<u32>) -> Result<Self> {
        let mut made = Self::anywhere()?;
        for _ in 0..ATTEMPTS {
            let missing = numbers_until(DIRECTORY_BUCKET, made.inode()?);
            if missing == 0 {
                break;
            }
            drop(made); // so that the next one gets the same name
            (1..missing).for_each(|_| use_up_inode_number());
            made = Self::anywhere()?;
        }
        chown(&made.path, owner, owner).context(|| made.path.clone())?;
        Ok(made)
    }

    /// Makes a directory with the first free name.
    fn anywhere() -> Result<Self> {
        for number in 0.. {
            let path = format!("{PARENT}/work.{number}");
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

/// Makes a file without a name, which is gone at once: what is made next has another inode number.
/// Where the file system has no such files, nothing happens.
fn use_up_inode_number() {
    let _ = open(PARENT, OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty());
}

impl Drop for WorkDirectory {
    fn drop(&mut self) {
        // A process left behind may still write there; that is no failure of the measurement.
        let _ = fs::remove_dir_all(&self.path);
    }
}
