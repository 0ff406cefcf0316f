//! The messages between the probe and the measured process.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use crate::clock::ClockName;
use crate::cpu_time::CpuTime;
use crate::raw_syscalls::Fault;
use crate::window_start::WindowStart;
use crate::wire_format::{Wire, fields};

/// From the probe to the process.
#[derive(Debug, PartialEq, Eq)]
pub enum Order {
    /// The first order: a task for an ordinary user. The process prepares, and replies `Ready`.
    Prepare(Job),
    /// The first order: a program to execute. The process prepares, and replies `Ready`.
    Become(Program),
    /// Begin. A call then replies `Done`; a command or program sends nothing more.
    Go,
    /// Send the samples.
    Report,
}

/// A task for an ordinary user.
#[derive(Debug, PartialEq, Eq)]
pub struct Job {
    /// The working directory.
    pub directory: String,
    /// The user and group id to take on, login id included; `None`: keep the own ones.
    pub identity: Option<u32>,
    /// What to do.
    pub task: Task,
}
fields!(Job { directory, identity, task });

/// A program, with its identity and working directory.
#[derive(Debug, PartialEq, Eq)]
pub struct Program {
    /// The program (searched for in `PATH`) and its arguments.
    pub argv: Vec<String>,
    /// `None`: keep the own one.
    pub user: Option<User>,
    /// The login id for audit.
    pub login: Option<u32>,
    /// The SELinux context, where SELinux is on.
    pub context: Option<String>,
    /// All variables.
    pub environment: BTreeMap<String, String>,
    /// The working directory.
    pub folder: String,
    /// A file to read from.
    pub stdin: Option<String>,
}
fields!(Program { argv, user, login, context, environment, folder, stdin });

/// An identity to take on.
#[derive(Debug, PartialEq, Eq)]
pub struct User {
    /// The user.
    pub uid: u32,
    /// The user's group.
    pub gid: u32,
    /// Further groups.
    pub groups: Vec<u32>,
}
fields!(User { uid, gid, groups });

/// What a process is started for.
#[derive(Debug, PartialEq, Eq)]
pub enum Task {
    /// Measure a call.
    Call(CallTask),
    /// Execute a program.
    Command(Command),
}

/// A call to be measured.
#[derive(Debug, PartialEq, Eq)]
pub struct CallTask {
    /// What to read around each window.
    pub clock: ClockName,
    /// Which call, how often.
    pub plan: Plan,
    /// When each window begins.
    pub window_start: WindowStart,
    /// The program that ends at once.
    pub noop: Noop,
}
fields!(CallTask { clock, plan, window_start, noop });

/// Which call, and how often.
#[derive(Debug, PartialEq, Eq)]
pub struct Plan {
    /// One of [`NAMES`](crate::NAMES).
    pub name: String,
    /// Operations in a timed window.
    pub batch: u32,
    /// Windows that are reported.
    pub samples: u32,
    /// Windows before them, which are not.
    pub warmup: u32,
    /// Milliseconds from the end of a window to the next, at least, if windows begin after a tick.
    pub apart: u32,
}
fields!(Plan { name, batch, samples, warmup, apart });

/// The path of the program that ends at once.
#[derive(Debug, PartialEq, Eq)]
pub struct Noop {
    /// Its path.
    pub path: String,
    /// Whether to open it before becoming an ordinary user, who may not reach the path, and to
    /// execute that descriptor.
    pub keep_open: bool,
}

impl Wire for Noop {
    fn put(&self, out: &mut Vec<u8>) {
        self.path.put(out);
        u8::from(self.keep_open).put(out);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        Some(Self { path: Wire::take(from)?, keep_open: u8::take(from)? != 0 })
    }
}

/// A program to be measured.
#[derive(Debug, PartialEq, Eq)]
pub struct Command {
    /// The program (searched for in `PATH`) and its arguments.
    pub argv: Vec<String>,
    /// All variables.
    pub environment: BTreeMap<String, String>,
}
fields!(Command { argv, environment });

/// From the process to the probe.
#[derive(Debug, PartialEq, Eq)]
pub enum Reply {
    /// Prepared; waits for `Go`.
    Ready(Ready),
    /// Measured; waits for `Report`.
    Done,
    /// The samples, in the clock's unit.
    Samples(Vec<u64>),
    /// Failed, and ends.
    Failed(Failure),
}

/// The state of a process that is prepared.
#[derive(Debug, PartialEq, Eq)]
pub struct Ready {
    /// Its identity.
    pub identity: Identity,
    /// What preparing has used.
    pub used: CpuTime,
}
fields!(Ready { identity, used });

/// The identity of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Its user id.
    pub uid: u32,
    /// Its login user id; `None` where unset.
    pub loginuid: Option<u32>,
    /// The audit session that it and all its descendants belong to; `None` where unset.
    pub session: Option<u32>,
}
fields!(Identity { uid, loginuid, session });

/// What went wrong in the process.
#[derive(Debug, PartialEq, Eq)]
pub struct Failure {
    /// What was tried, and on what, or the whole message.
    pub what: String,
    /// The system's error number.
    pub errno: Option<i32>,
}
fields!(Failure { what, errno });

impl Failure {
    /// What was tried, and how it failed.
    #[must_use]
    pub fn of(what: String, fault: Fault) -> Self {
        match fault {
            Fault::Errno(number) => Self { what, errno: Some(number) },
            Fault::Wrong(text) => Self::saying([&what, ": ", text].concat()),
        }
    }

    /// A failure that is no error of the system.
    pub fn saying(what: impl Into<String>) -> Self {
        Self { what: what.into(), errno: None }
    }
}

/// Adds what was tried to the system's error.
pub trait Context<T> {
    /// Adds what was tried, and on what; evaluated only after a failure.
    fn context(self, what: impl FnOnce() -> String) -> Result<T, Failure>;
}

impl<T, E: Into<Fault>> Context<T> for Result<T, E> {
    fn context(self, what: impl FnOnce() -> String) -> Result<T, Failure> {
        self.map_err(|fault| Failure::of(what(), fault.into()))
    }
}

impl Wire for Order {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Prepare(job) => tagged(0, job, out),
            Self::Become(program) => tagged(1, program, out),
            Self::Go => out.push(2),
            Self::Report => out.push(3),
        }
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        match u8::take(from)? {
            0 => Job::take(from).map(Self::Prepare),
            1 => Program::take(from).map(Self::Become),
            2 => Some(Self::Go),
            3 => Some(Self::Report),
            _ => None,
        }
    }
}

impl Wire for Task {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Call(task) => tagged(0, task, out),
            Self::Command(command) => tagged(1, command, out),
        }
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        match u8::take(from)? {
            0 => CallTask::take(from).map(Self::Call),
            1 => Command::take(from).map(Self::Command),
            _ => None,
        }
    }
}

impl Wire for Reply {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Ready(ready) => tagged(0, ready, out),
            Self::Done => out.push(1),
            Self::Samples(samples) => tagged(2, samples, out),
            Self::Failed(failure) => tagged(3, failure, out),
        }
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        match u8::take(from)? {
            0 => Ready::take(from).map(Self::Ready),
            1 => Some(Self::Done),
            2 => Vec::take(from).map(Self::Samples),
            3 => Failure::take(from).map(Self::Failed),
            _ => None,
        }
    }
}

impl Wire for ClockName {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(match self {
            Self::Tsc => 0,
            Self::Monotonic => 1,
        });
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        match u8::take(from)? {
            0 => Some(Self::Tsc),
            1 => Some(Self::Monotonic),
            _ => None,
        }
    }
}

impl Wire for WindowStart {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Immediate => out.push(2),
            Self::AfterTick { later } => tagged(0, later, out),
            Self::AfterSleep(pause) => {
                tagged(1, &u64::try_from(pause.as_micros()).unwrap_or(u64::MAX), out);
            }
        }
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        match u8::take(from)? {
            0 => u32::take(from).map(|later| Self::AfterTick { later }),
            1 => u64::take(from).map(|pause| Self::AfterSleep(Duration::from_micros(pause))),
            2 => Some(Self::Immediate),
            _ => None,
        }
    }
}

impl Wire for CpuTime {
    fn put(&self, out: &mut Vec<u8>) {
        self.user.put(out);
        self.system.put(out);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        Some(Self { user: Wire::take(from)?, system: Wire::take(from)? })
    }
}

/// Appends a value behind the tag of its kind.
fn tagged(tag: u8, value: &impl Wire, out: &mut Vec<u8>) {
    out.push(tag);
    value.put(out);
}
