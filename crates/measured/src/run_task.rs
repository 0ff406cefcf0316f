//! The measured process from start to end: takes on an identity, and does one task.

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

use crate::call::CallSetup;
use crate::calls;
use crate::channel::Channel;
use crate::cpu_time::CpuTime;
use crate::execvpe::{ExecArguments, c_string};
use crate::identity::{assume, change_user, identify, leave_probe, log_in, take_context};
use crate::messages::{
    CallTask, Command, Context, Failure, Identity, Job, Noop, Order, Program, Ready, Reply, Task,
};
use crate::named_call::Handshake;
use crate::raw_syscalls::Fault;
use crate::window_start::{WindowStart, sleep};

/// The process's name. It was executed by a descriptor's number.
const NAME: &CStr = c"measured";
/// How long the probe may take from `Go` to its wait before the first window.
const PAUSE: Duration = Duration::from_millis(2);
const OUT_OF_PLACE: &[u8] = b"hardcost-measured is for hardcost-probe's own use\n";

/// Does the task that comes over the socket on standard input; returns the exit status.
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

/// Moves the socket away from standard input, which a command needs.
fn take_channel() -> Result<Channel, Fault> {
    let input = stream(0);
    getpeername(input)?;
    let socket = fcntl_dupfd_cloexec(input, 3)?;
    dup2_stdin(open_to_read("/dev/null")?)?;
    Ok(Channel::new(socket))
}

/// A standard stream.
fn stream(number: i32) -> BorrowedFd<'static> {
    // SAFETY: it is never closed; if it was not open, calls fail.
    unsafe { BorrowedFd::borrow_raw(number) }
}

fn open_to_read(path: &str) -> Result<OwnedFd, Fault> {
    Ok(open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?)
}

fn work(channel: &Channel) -> Result<(), Failure> {
    match hear(channel)? {
        Some(Order::Prepare(job)) => prepare(channel, job),
        Some(Order::Become(program)) => become_program(channel, program),
        _ => Err(Failure::saying("expected to hear what to do")),
    }
}

/// Does a task as an ordinary user.
fn prepare(channel: &Channel, job: Job) -> Result<(), Failure> {
    let Job { directory, identity, task } = job;
    match task {
        Task::Call(task) => {
            // An ordinary user may not reach the path.
            let (noop, _held) = noop_path(&task.noop)?;
            let identity = enter_directory(directory, identity)?;
            let setup = CallSetup {
                batch: task.plan.batch,
                window_start: task.window_start,
                noop: c_word(noop)?,
            };
            measure(channel, identity, &task, &setup)
        }
        Task::Command(command) => {
            let identity = enter_directory(directory, identity)?;
            execute(channel, identity, command)
        }
    }
}

/// Takes on the identity, and enters the directory.
fn enter_directory(directory: String, identity: Option<u32>) -> Result<Identity, Failure> {
    let identity = assume(identity)?;
    chdir(&*directory).context(|| directory)?;
    Ok(identity)
}

/// The path by which to execute the program that ends at once, and the descriptor that must stay
/// open for it.
fn noop_path(noop: &Noop) -> Result<(String, Option<OwnedFd>), Failure> {
    let Noop { path, keep_open } = noop;
    if !keep_open {
        return Ok((path.clone(), None));
    }
    let held = open_to_read(path).context(|| path.clone())?;
    Ok((["/proc/self/fd/", &held.as_raw_fd().to_string()].concat(), Some(held)))
}

fn c_word(word: String) -> Result<alloc::ffi::CString, Failure> {
    let copy = word.clone();
    c_string(word).context(|| copy)
}

/// Executes a program of the system; returns only if that fails.
fn become_program(channel: &Channel, program: Program) -> Result<(), Failure> {
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
    setup: &CallSetup,
) -> Result<(), Failure> {
    let name = &task.plan.name;
    let call = calls::find(name).ok_or_else(|| Failure::saying(["no call ", name].concat()))?;
    let mut conversation = Conversation { channel, identity, window_start: task.window_start };
    let samples = call.run(task.clock, &task.plan, setup, &mut conversation)?;
    say(channel, &Reply::Samples(samples))
}

/// What the process sends and waits for around the samples.
struct Conversation<'a> {
    channel: &'a Channel,
    identity: Identity,
    window_start: WindowStart,
}

impl Handshake for Conversation<'_> {
    fn begin(&mut self) -> Result<(), Failure> {
        await_go(self.channel, self.identity)?;
        if matches!(self.window_start, WindowStart::AfterTick { .. }) {
            // The first window is some ticks away.
            return Ok(());
        }
        // On one processor the probe may still be busy when the process resumes. Without a pause it
        // would get its turn within a window.
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

/// Executes a program; returns only if that fails. If it succeeds, the channel closes.
fn execute(channel: &Channel, identity: Identity, command: Command) -> Result<(), Failure> {
    let Command { mut argv, environment } = command;
    let prepared = ExecArguments::new(&argv, &environment);
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
