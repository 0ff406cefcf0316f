//! The measured child's side: takes on an ordinary user's identity and does one task.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::str::FromStr;
use std::thread;
use std::time::Duration;

use rustix::process::{DumpableBehavior, chdir, getuid, set_dumpable_behavior, setsid, umask};
use rustix::stdio::dup2_stdin;
use rustix::thread::{Gid, Uid, set_thread_gid, set_thread_groups, set_thread_uid};

use crate::calls::{self, Handshake, Setup};
use crate::channel::{Channel, Identity, Order, Program, Reply, Task};
use crate::clock::ClockName;
use crate::cputime::CpuTime;
use crate::error::{Context, Error, Result};
use crate::ports;
use crate::protocol::CallPlan;

/// How long to let the probe get from `Go` to waiting before the first window.
const PAUSE: Duration = Duration::from_millis(2);

/// What the kernel calls a login user or an audit session that was never set.
const UNSET: u32 = u32::MAX;
const LOGIN: &str = "/proc/self/loginuid";
/// The context of the next program that this process becomes.
const EXEC_CONTEXT: &str = "/proc/self/attr/exec";
/// There where SELinux is on.
const SELINUX: &str = "/sys/fs/selinux/enforce";

/// Does what it is told over the socket that is its standard input.
#[expect(clippy::disallowed_macros, reason = "its user is at a terminal")]
pub fn run() -> c_int {
    let mut channel = match take_channel() {
        Ok(channel) => channel,
        Err(error) => {
            eprintln!("hardcost-probe workload is for hardcost-probe's own use: {error}");
            return 2;
        }
    };
    match work(&mut channel) {
        Ok(()) => 0,
        Err(error) => {
            let told = channel.send(&Reply::Failed(error.to_string()));
            c_int::from(told.is_err())
        }
    }
}

/// Takes the socket away from standard input, where it is in the way of a command.
fn take_channel() -> io::Result<Channel> {
    let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    socket.peer_addr()?;
    dup2_stdin(File::open("/dev/null")?)?;
    Ok(Channel::new(socket))
}

fn work(channel: &mut Channel) -> Result<()> {
    let (directory, identity, task) = match channel.receive()? {
        Some(Order::Prepare { directory, identity, task }) => (directory, identity, task),
        Some(Order::Become(program)) => return turn_into(channel, &program),
        _ => return Err(Error::Other("expected to be told what to do".into())),
    };
    let identity = assume(identity)?;
    chdir(&directory).context(|| directory)?;
    match task {
        Task::Call { clock, plan, pace, noop } => {
            let setup = Setup { batch: plan.batch, pace, noop };
            measure(channel, identity, clock, &plan, &setup)
        }
        Task::Command { argv } => execute(channel, identity, &argv, None),
    }
}

/// Becomes a program of the system; comes back only if that fails.
fn turn_into(channel: &mut Channel, program: &Program) -> Result<()> {
    leave_probe()?;
    if let Some(path) = &program.stdin {
        let file = File::open(path).context(|| path.clone())?;
        dup2_stdin(file).context(|| path.clone())?;
    }
    if let Some(login) = program.login {
        log_in(login)?;
    }
    if let Some(context) = program.context.as_ref().filter(|_| Path::new(SELINUX).exists()) {
        take_context(context).context(|| format!("taking the context {context}"))?;
    }
    if let Some((uid, gid, groups)) = &program.user {
        change_user(*uid, *gid, groups)?;
    }
    chdir(&program.folder).context(|| program.folder.clone())?;
    execute(channel, identify(), &program.argv, Some(&program.environment))
}

/// Chooses the context of the next program. The file is not to be made, which SELinux would refuse,
/// and log, even where it is there.
fn take_context(context: &str) -> io::Result<()> {
    File::options().write(true).open(EXEC_CONTEXT)?.write_all(context.as_bytes())
}

/// Logs in for audit. A kernel without audit knows no login.
fn log_in(id: u32) -> Result<()> {
    match fs::write(LOGIN, id.to_string()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result.context(|| format!("logging in as {id}")),
    }
}

/// Gives up what only the probe has, and what ties it to the probe.
fn leave_probe() -> Result<()> {
    ports::release();
    umask(0o022.into());
    setsid().context(|| "a session of its own".into())?;
    Ok(())
}

/// Becomes a user.
fn change_user(uid: u32, gid: u32, groups: &[u32]) -> Result<()> {
    let groups: Vec<_> = groups.iter().map(|&group| Gid::from_raw(group)).collect();
    set_thread_groups(&groups).context(|| "changing groups".into())?;
    set_thread_gid(Gid::from_raw(gid)).context(|| format!("becoming group {gid}"))?;
    set_thread_uid(Uid::from_raw(uid)).context(|| format!("becoming user {uid}"))?;
    // The change of user took this away; a process started by that user would have it.
    set_dumpable_behavior(DumpableBehavior::Dumpable).context(|| "becoming dumpable".into())
}

/// Becomes an ordinary user with that user and group id, logged in as such, or stays who it is.
fn assume(id: Option<u32>) -> Result<Identity> {
    leave_probe()?;
    if let Some(id) = id {
        // Refused where it is set and locked; absent where the kernel has no audit. What holds
        // in the end is reported.
        let _ = fs::write(LOGIN, id.to_string());
        change_user(id, id, &[])?;
    }
    Ok(identify())
}

/// Who this process is.
fn identify() -> Identity {
    Identity {
        uid: getuid().as_raw(),
        loginuid: read_number(LOGIN),
        session: read_number("/proc/self/sessionid"),
    }
}

/// The number in a file of `/proc`; `None` where it is unset or there is no such file.
fn read_number(path: &str) -> Option<u32> {
    let text = fs::read_to_string(path).ok()?;
    u32::from_str(text.trim()).ok().filter(|&number| number != UNSET)
}

/// Measures a call.
fn measure(
    channel: &mut Channel,
    identity: Identity,
    clock: ClockName,
    plan: &CallPlan,
    setup: &Setup,
) -> Result<()> {
    let name = &plan.name;
    let entry = calls::find(name).ok_or_else(|| Error::Other(format!("no call {name}")))?;
    let mut conversation = Conversation { channel, identity };
    let samples = entry.run(clock, plan, setup, &mut conversation);
    let samples = samples.map_err(|failure| Error::Other(format!("call {name}: {failure}")))?;
    channel.send(&Reply::Samples(samples))
}

/// The conversation around the samples.
struct Conversation<'a> {
    channel: &'a mut Channel,
    identity: Identity,
}

impl Handshake for Conversation<'_> {
    #[expect(clippy::disallowed_methods, reason = "nothing else is to be looked after here")]
    fn begin(&mut self) -> Result<()> {
        await_go(self.channel, self.identity)?;
        // On one processor the probe may still be busy when the child goes on; without a pause it
        // would get its turn within a window.
        thread::sleep(PAUSE);
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        self.channel.send(&Reply::Done)?;
        match self.channel.receive()? {
            Some(Order::Report) => Ok(()),
            other => Err(Error::Other(format!("expected to report, was told {other:?}"))),
        }
    }
}

fn await_go(channel: &mut Channel, identity: Identity) -> Result<()> {
    channel.send(&Reply::Ready { identity, used: CpuTime::own() })?;
    match channel.receive()? {
        Some(Order::Go) => Ok(()),
        other => Err(Error::Other(format!("expected to go, was told {other:?}"))),
    }
}

/// Becomes a program; comes back only if that fails. The channel closes when it succeeds.
fn execute(
    channel: &mut Channel,
    identity: Identity,
    argv: &[String],
    environment: Option<&BTreeMap<String, String>>,
) -> Result<()> {
    let (program, arguments) =
        argv.split_first().ok_or_else(|| Error::Other("a command without a name".into()))?;
    let mut command = Command::new(program);
    command.args(arguments);
    if let Some(environment) = environment {
        command.env_clear().envs(environment);
    }
    await_go(channel, identity)?;
    Err(command.exec()).context(|| program.clone())
}
