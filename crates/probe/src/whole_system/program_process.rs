//! A measured process that takes on an identity and becomes a program.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, ExitStatus};

use hardcost_measured::channel::{Identity, Order, Program, Ready, Reply, User};
use hardcost_measured::cputime::CpuTime;
use rustix::event::PollFlags;
use rustix::process::{Pid, PidfdFlags, geteuid, pidfd_open};

use super::accounts;
use crate::error::{Context, Error, Result};
use crate::measured::{self, Conversation};
use crate::process::PATH;
use crate::tree;
use crate::wait::{Beside, Deadline, wait};

/// A program as the system's own, in the top directory.
pub fn of_system(argv: &[String]) -> Result<Program> {
    of_user(argv, "root", &BTreeMap::new())
}

/// A program of a user, who is looked up.
///
/// Who is not root can only be who he is: then `root` means that one.
pub fn of_user(argv: &[String], user: &str, extra: &BTreeMap<String, String>) -> Result<Program> {
    if argv.is_empty() {
        return Err(Error::Other("a program without a name".into()));
    }
    let account = accounts::find(user)?;
    let mut environment =
        BTreeMap::from([("PATH".into(), PATH.into()), ("HOME".into(), account.home)]);
    environment.extend(extra.clone());
    let is_self = account.uid == geteuid().as_raw() || user == "root" && !geteuid().is_root();
    let other = User { uid: account.uid, gid: account.gid, groups: account.groups };
    Ok(Program {
        argv: argv.to_vec(),
        user: (!is_self).then_some(other),
        login: None,
        context: None,
        environment,
        folder: "/".into(),
        stdin: None,
    })
}

/// A process that is prepared to become a program, or has become it.
pub struct Process {
    child: Child,
    conversation: Conversation,
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
        let (mut command, conversation) = measured::process()?;
        command.stdout(stdout).stderr(stderr).env_clear();
        let child = command.spawn().context(|| "starting a process".into())?;
        // The command holds the outputs' other ends, which must close when the program ends.
        drop(command);
        let pid = Pid::from_child(&child);
        let ended = pidfd_open(pid, PidfdFlags::empty()).context(|| "a process".into())?;
        let used = CpuTime::default();
        let mut process = Self { child, conversation, ended, session: None, used };
        process.conversation.tell(&Order::Become(program))?;
        match process.hear(beside, deadline)? {
            Some(Reply::Ready(Ready { identity: Identity { session, .. }, used })) => {
                Ok(Self { session, used, ..process })
            }
            other => Err(process.abandon(format!("a process ended early: {other:?}"))),
        }
    }

    /// Lets it become the program.
    pub fn go(&mut self) -> Result<()> {
        self.conversation.tell(&Order::Go)
    }

    /// Waits until it has become the program; that it could not is an error.
    pub fn begun(&mut self, beside: &mut dyn Beside, deadline: Deadline) -> Result<()> {
        match self.hear(beside, deadline)? {
            None => Ok(()),
            Some(other) => Err(self.abandon(format!("a process said {other:?} out of turn"))),
        }
    }

    /// Why it could not become the program, once it has ended.
    pub fn failure(&mut self) -> Result<()> {
        self.conversation.hear().map(drop)
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
        let ready = wait(&[(self.conversation.as_fd(), PollFlags::IN)], beside, deadline);
        let heard = match ready {
            Ok(ready) if ready == [true] => self.conversation.hear(),
            Ok(_) => Err(Error::Other("a program could not be started in time".into())),
            Err(error) => Err(error),
        };
        if heard.is_err() {
            self.kill();
        }
        heard
    }

    fn abandon(&mut self, why: impl Display) -> Error {
        self.kill();
        Error::Other(why.to_string())
    }
}
