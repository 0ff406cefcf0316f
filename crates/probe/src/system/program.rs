//! A process of this very program that takes on an identity and becomes another program.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, ExitStatus};

use rustix::event::PollFlags;
use rustix::process::{Pid, PidfdFlags, geteuid, pidfd_open};

use super::accounts;
use crate::channel::{Channel, Identity, Order, Program, Reply};
use crate::cputime::CpuTime;
use crate::error::{Context, Error, Result};
use crate::tree;
use crate::wait::{Beside, Deadline, wait};

/// Where programs are searched for.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

impl Program {
    /// A program as the system's own, in the top directory.
    pub fn new(argv: &[String]) -> Result<Self> {
        Self::of(argv, "root", &BTreeMap::new())
    }

    /// A program of a user, who is looked up.
    ///
    /// Who is not root can only be who he is: then `root` means that one.
    pub fn of(argv: &[String], user: &str, extra: &BTreeMap<String, String>) -> Result<Self> {
        if argv.is_empty() {
            return Err(Error::Other("a program without a name".into()));
        }
        let account = accounts::find(user)?;
        let mut environment =
            BTreeMap::from([("PATH".into(), PATH.into()), ("HOME".into(), account.home)]);
        environment.extend(extra.clone());
        let is_self = account.uid == geteuid().as_raw() || user == "root" && !geteuid().is_root();
        Ok(Self {
            argv: argv.to_vec(),
            user: (!is_self).then_some((account.uid, account.gid, account.groups)),
            login: None,
            context: None,
            environment,
            folder: "/".into(),
            stdin: None,
        })
    }
}

/// A process that is prepared to become a program, or has become it.
pub struct Process {
    child: Child,
    channel: Channel,
    /// Readable once it has ended.
    pub ended: OwnedFd,
    /// Its audit session; `None` where it has none.
    pub session: Option<u32>,
    /// What it had used of the processor when it was ready.
    pub used: CpuTime,
}

impl Process {
    /// Starts the process, which writes to the two descriptors; returns when all but the program
    /// itself is prepared.
    pub fn prepare(
        program: Program,
        (stdout, stderr): (OwnedFd, OwnedFd),
        beside: &mut dyn Beside,
        deadline: Deadline,
    ) -> Result<Self> {
        let (near, far) = UnixStream::pair().context(|| "a pair of sockets".into())?;
        let mut command = Command::new("/proc/self/exe");
        command.arg("workload").stdin(OwnedFd::from(far)).stdout(stdout).stderr(stderr).env_clear();
        let child = command.spawn().context(|| "starting a process".into())?;
        // The command holds the outputs' other ends, which must close when the program ends.
        drop(command);
        let pid = Pid::from_child(&child);
        let ended = pidfd_open(pid, PidfdFlags::empty()).context(|| "a process".into())?;
        let (channel, used) = (Channel::new(near), CpuTime::default());
        let mut process = Self { child, channel, ended, session: None, used };
        process.channel.send(&Order::Become(program))?;
        match process.hear(beside, deadline)? {
            Some(Reply::Ready { identity: Identity { session, .. }, used }) => {
                Ok(Self { session, used, ..process })
            }
            Some(Reply::Failed(message)) => Err(process.abandon(message)),
            other => Err(process.abandon(format!("a process ended early: {other:?}"))),
        }
    }

    /// Lets it become the program.
    pub fn go(&mut self) -> Result<()> {
        self.channel.send(&Order::Go)
    }

    /// Waits until it has become the program; that it could not is an error.
    pub fn begun(&mut self, beside: &mut dyn Beside, deadline: Deadline) -> Result<()> {
        match self.hear(beside, deadline)? {
            None => Ok(()),
            Some(Reply::Failed(message)) => Err(self.abandon(message)),
            Some(other) => Err(self.abandon(format!("a process said {other:?} out of turn"))),
        }
    }

    /// Why it could not become the program, once it has ended.
    pub fn failure(&mut self) -> Result<()> {
        match self.channel.receive()? {
            Some(Reply::Failed(message)) => Err(Error::Other(message)),
            _ => Ok(()),
        }
    }

    /// Its process.
    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Waits for its end, and reaps it.
    #[expect(clippy::disallowed_methods, reason = "it has ended")]
    pub fn reap(&mut self) -> Result<ExitStatus> {
        self.child.wait().context(|| "waiting for a program".into())
    }

    /// Kills it and all that came of it, and reaps it.
    #[expect(clippy::disallowed_methods, reason = "it was killed")]
    pub fn kill(&mut self) {
        tree::kill(self.pid());
        let _ = self.child.wait();
    }

    /// Its next word; `None` if there will be none.
    fn hear(&mut self, beside: &mut dyn Beside, deadline: Deadline) -> Result<Option<Reply>> {
        let ready = wait(&[(self.channel.as_fd(), PollFlags::IN)], beside, deadline);
        match ready {
            Ok(ready) if ready == [true] => self.channel.receive(),
            Ok(_) => Err(self.abandon("a program could not be started in time")),
            Err(error) => {
                self.kill();
                Err(error)
            }
        }
    }

    fn abandon(&mut self, why: impl Display) -> Error {
        self.kill();
        Error::Other(why.to_string())
    }
}
