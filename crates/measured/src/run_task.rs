//! What the measured process does: takes on an identity and does one task.

use alloc::string::{String, ToString};
use core::ffi::CStr;
use core::time::Duration;

use rustix::fd::{AsRawFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::{fcntl_dupfd_cloexec, write};
use rustix::net::getpeername;
use rustix::process::chdir;
use rustix::stdio::dup2_stdin;
use rustix::thread::set_name;

use crate::become_program::{Prepared, c_string};
use crate::call::Setup;
use crate::calls;
use crate::channel::Channel;
use crate::cputime::CpuTime;
use crate::entry::Handshake;
use crate::identity::{assume, change_user, identify, leave_probe, log_in, take_context};
use crate::messages::{
    CallTask, Command, Context, Failure, Identity, Job, Noop, Order, Program, Ready, Reply, Task,
};
use crate::pace::{Pace, sleep};
use crate::sys::Fault;

/// What the process is called among others. It was executed by a descriptor's number.
const NAME: &CStr = c"measured";
/// How long to let the probe get from `Go` to waiting before the first window.
const PAUSE: Duration = Duration::from_millis(2);
const OUT_OF_PLACE: &[u8] = b"hardcost-measured is for hardcost-probe's own use\n";

/// Does what it is told over the socket that is its standard input; the exit status.
#[must_use]
pub fn run() -> u8 {
    let Ok(channel) = take_channel() else {
        let _ = write(stream(2), OUT_OF_PLACE);
        return 2;
    };
    let _ = set_name(NAME);
    match work(&channel) {
        Ok(()) => 0,
        Err(failure) => u8::from(channel.send(&Reply::Failed(failure)).is_err()),
    }
}

/// Takes the socket away from standard input, where it is in the way of a command.
fn take_channel() -> Result<Channel, Fault> {
    let input = stream(0);
    getpeername(input)?;
    let socket = fcntl_dupfd_cloexec(input, 3)?;
    dup2_stdin(open_to_read("/dev/null")?)?;
    Ok(Channel::new(socket))
}

/// A standard stream.
fn stream(number: i32) -> BorrowedFd<'static> {
    // SAFETY: nobody closes it; where nobody opened it, calls fail.
    unsafe { BorrowedFd::borrow_raw(number) }
}

fn open_to_read(path: &str) -> Result<OwnedFd, Fault> {
    Ok(open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?)
}

fn work(channel: &Channel) -> Result<(), Failure> {
    match hear(channel)? {
        Some(Order::Prepare(job)) => prepare(channel, job),
        Some(Order::Become(program)) => turn_into(channel, program),
        _ => Err(Failure::saying("expected to hear what to do")),
    }
}

/// Does something as an ordinary user.
fn prepare(channel: &Channel, job: Job) -> Result<(), Failure> {
    let Job { directory, identity, task } = job;
    match task {
        Task::Call(task) => {
            // Who is no longer root may not reach it.
            let (noop, _held) = find(&task.noop)?;
            let identity = go_there(directory, identity)?;
            let setup = Setup { batch: task.plan.batch, pace: task.pace, noop: c_word(noop)? };
            measure(channel, identity, &task, &setup)
        }
        Task::Command(command) => {
            let identity = go_there(directory, identity)?;
            execute(channel, identity, command)
        }
    }
}

/// Becomes that user, in that directory.
fn go_there(directory: String, identity: Option<u32>) -> Result<Identity, Failure> {
    let identity = assume(identity)?;
    chdir(&*directory).context(|| directory)?;
    Ok(identity)
}

/// By which path to execute the program that ends at once, and what has to stay open for that.
fn find(noop: &Noop) -> Result<(String, Option<OwnedFd>), Failure> {
    let Noop { path, hold } = noop;
    if !hold {
        return Ok((path.clone(), None));
    }
    let held = open_to_read(path).context(|| path.clone())?;
    Ok((["/proc/self/fd/", &held.as_raw_fd().to_string()].concat(), Some(held)))
}

fn c_word(word: String) -> Result<alloc::ffi::CString, Failure> {
    let copy = word.clone();
    c_string(word).context(|| copy)
}

/// Becomes a program of the system; comes back only if that fails.
fn turn_into(channel: &Channel, program: Program) -> Result<(), Failure> {
    leave_probe()?;
    if let Some(path) = program.stdin {
        let file = open_to_read(&path).context(|| path.clone())?;
        dup2_stdin(file).context(|| path)?;
    }
    if let Some(login) = program.login {
        log_in(login)?;
    }
    if let Some(context) = program.context {
        take_context(&context)?;
    }
    if let Some(user) = program.user {
        change_user(&user)?;
    }
    chdir(&*program.folder).context(|| program.folder)?;
    let command = Command { argv: program.argv, environment: program.environment };
    execute(channel, identify(), command)
}

/// Measures a call.
fn measure(
    channel: &Channel,
    identity: Identity,
    task: &CallTask,
    setup: &Setup,
) -> Result<(), Failure> {
    let name = &task.plan.name;
    let entry = calls::find(name).ok_or_else(|| Failure::saying(["no call ", name].concat()))?;
    let mut conversation = Conversation { channel, identity, pace: task.pace };
    let samples = entry.run(task.clock, &task.plan, setup, &mut conversation)?;
    say(channel, &Reply::Samples(samples))
}

/// The conversation around the samples.
struct Conversation<'a> {
    channel: &'a Channel,
    identity: Identity,
    pace: Pace,
}

impl Handshake for Conversation<'_> {
    fn begin(&mut self) -> Result<(), Failure> {
        await_go(self.channel, self.identity)?;
        if matches!(self.pace, Pace::Tick { .. }) {
            // It is some ticks until the first window.
            return Ok(());
        }
        // On one processor the probe may still be busy when the process goes on; without a pause
        // it would get its turn within a window.
        sleep(PAUSE).context(|| "sleeping".into())
    }

    fn finish(&mut self) -> Result<(), Failure> {
        say(self.channel, &Reply::Done)?;
        match hear(self.channel)? {
            Some(Order::Report) => Ok(()),
            _ => Err(Failure::saying("expected an order to report")),
        }
    }
}

fn await_go(channel: &Channel, identity: Identity) -> Result<(), Failure> {
    say(channel, &Reply::Ready(Ready { identity, used: CpuTime::own() }))?;
    match hear(channel)? {
        Some(Order::Go) => Ok(()),
        _ => Err(Failure::saying("expected an order to go")),
    }
}

/// Becomes a program; comes back only if that fails. The channel closes when it succeeds.
fn execute(channel: &Channel, identity: Identity, command: Command) -> Result<(), Failure> {
    let Command { mut argv, environment } = command;
    let prepared = Prepared::new(&argv, &environment);
    let name = if argv.is_empty() { "a command".into() } else { argv.swap_remove(0) };
    let prepared = prepared.context(|| name.clone())?;
    await_go(channel, identity)?;
    Err(prepared.execute()).context(|| name)
}

fn say(channel: &Channel, reply: &Reply) -> Result<(), Failure> {
    channel.send(reply).context(talking)
}

fn hear(channel: &Channel) -> Result<Option<Order>, Failure> {
    channel.receive().context(talking)
}

fn talking() -> String {
    "talking with the probe".into()
}
