//! A process that takes on an identity and then executes a program, prepared by the measured
//! program.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, ExitStatus};

use hardcost_measured::channel::{Identity, Order, Program, Ready, Reply, User};
use hardcost_measured::cpu_time::CpuTime;
use rustix::event::PollFlags;
use rustix::process::{Pid, PidfdFlags, geteuid, pidfd_open};

use crate::error::{Context, Error, Result};
use crate::processes::child_process::PATH;
use crate::processes::measured_program::{self, Conversation};
use crate::processes::process_tree;
use crate::processes::wait::{BackgroundSource, Deadline, wait};
use crate::whole_system::accounts;

/// A program that runs as root, in the top directory.
pub fn of_system(argv: &[String]) -> Result<Program> {
    of_user(argv, "root", &BTreeMap::new())
}

/// A program that runs as a user.
///
/// If the probe is not root, it can only be its own user: `root` then means that one.
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

/// A process that is prepared to execute a program, or has executed it.
pub struct ProgramProcess {
    child: Child,
    conversation: Conversation,
    /// Readable once the process has ended.
    pub ended: OwnedFd,
    /// Its audit session; `None` where it has none.
    pub session: Option<u32>,
    /// What it had used of the processor when it was ready.
    pub used: CpuTime,
}

impl ProgramProcess {
    /// Starts the process with these outputs, and waits until all but the program itself is
    /// prepared.
    pub fn prepare(
        program: Program,
        (stdout, stderr): (OwnedFd, OwnedFd),
        background: &mut dyn BackgroundSource,
        deadline: Deadline,
    ) -> Result<Self> {
        let (mut command, conversation) = measured_program::command()?;
        command.stdout(stdout).stderr(stderr).env_clear();
        let child = command.spawn().context(|| "starting a process".into())?;
        // The command holds the write ends of the outputs, which must close when the program ends.
        drop(command);
        let pid = Pid::from_child(&child);
        let ended = pidfd_open(pid, PidfdFlags::empty()).context(|| "a process".into())?;
        let used = CpuTime::default();
        let mut process = Self { child, conversation, ended, session: None, used };
        process.conversation.send(&Order::Become(program))?;
        match process.receive(background, deadline)? {
            Some(Reply::Ready(Ready { identity: Identity { session, .. }, used })) => {
                Ok(Self { session, used, ..process })
            }
            other => Err(process.abandon(format!("a process ended early: {other:?}"))),
        }
    }

    /// Lets the process execute the program.
    pub fn go(&mut self) -> Result<()> {
        self.conversation.send(&Order::Go)
    }

    /// Waits until the process has executed the program. A failure to do so is an error.
    pub fn begun(
        &mut self,
        background: &mut dyn BackgroundSource,
        deadline: Deadline,
    ) -> Result<()> {
        match self.receive(background, deadline)? {
            None => Ok(()),
            Some(other) => Err(self.abandon(format!("a process said {other:?} out of turn"))),
        }
    }

    /// The reason why the process could not execute the program, once it has ended.
    pub fn failure(&mut self) -> Result<()> {
        self.conversation.receive().map(drop)
    }

    /// Its process id.
    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Waits for its end, and reaps it.
    #[expect(clippy::disallowed_methods, reason = "it has ended")]
    pub fn reap(&mut self) -> Result<ExitStatus> {
        self.child.wait().context(|| "waiting for a program".into())
    }

    /// Kills it with all its descendants, and reaps it.
    #[expect(clippy::disallowed_methods, reason = "it was killed")]
    pub fn kill(&mut self) {
        process_tree::kill(self.pid());
        let _ = self.child.wait();
    }

    /// Its next reply; `None` if no more can come.
    fn receive(
        &mut self,
        background: &mut dyn BackgroundSource,
        deadline: Deadline,
    ) -> Result<Option<Reply>> {
        let ready = wait(&[(self.conversation.as_fd(), PollFlags::IN)], background, deadline);
        let received = match ready {
            Ok(ready) if ready == [true] => self.conversation.receive(),
            Ok(_) => Err(Error::Other("a program could not be started in time".into())),
            Err(error) => Err(error),
        };
        if received.is_err() {
            self.kill();
        }
        received
    }

    fn abandon(&mut self, why: impl Display) -> Error {
        self.kill();
        Error::Other(why.to_string())
    }
}
