//! What the probe and the measured process say to each other.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use crate::clock::ClockName;
use crate::cputime::CpuTime;
use crate::pace::Pace;
use crate::sys::Fault;
use crate::wire::{Wire, fields};

/// What the probe tells the process.
#[derive(Debug, PartialEq, Eq)]
pub enum Order {
    /// First of all: what to do, where and as whom. The process prepares and is `Ready`.
    Prepare(Job),
    /// First of all: the program to become. The process prepares and is `Ready`.
    Become(Program),
    /// Begin. A call is then `Done`; a command or program is never heard of again.
    Go,
    /// Hand over the samples.
    Report,
}

/// What to do as an ordinary user.
#[derive(Debug, PartialEq, Eq)]
pub struct Job {
    /// The working directory.
    pub directory: String,
    /// The user and group id to take on, login id included; `None`: stay who you are.
    pub identity: Option<u32>,
    /// What to do.
    pub task: Task,
}
fields!(Job { directory, identity, task });

/// A program, and as whom and where it runs.
#[derive(Debug, PartialEq, Eq)]
pub struct Program {
    /// The program (searched for in `PATH`) and its arguments.
    pub argv: Vec<String>,
    /// `None`: stay who you are.
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

/// Whom to become.
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

/// What a process is there for.
#[derive(Debug, PartialEq, Eq)]
pub enum Task {
    /// Measure a call.
    Call(CallTask),
    /// Become a program.
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
    pub pace: Pace,
    /// The program that ends at once.
    pub noop: Noop,
}
fields!(CallTask { clock, plan, pace, noop });

/// Which call, how often.
#[derive(Debug, PartialEq, Eq)]
pub struct Plan {
    /// One of [`NAMES`](crate::NAMES).
    pub name: String,
    /// Operations in a timed window.
    pub batch: u32,
    /// Windows that count.
    pub samples: u32,
    /// Windows before them.
    pub warmup: u32,
    /// Milliseconds from the end of a window to the next, at least, where they go by ticks.
    pub apart: u32,
}
fields!(Plan { name, batch, samples, warmup, apart });

/// Where the program is that ends at once.
#[derive(Debug, PartialEq, Eq)]
pub struct Noop {
    /// Its path.
    pub path: String,
    /// Whether to open it before becoming an ordinary user, who may not reach the path, and to
    /// execute what was opened.
    pub hold: bool,
}

impl Wire for Noop {
    fn put(&self, out: &mut Vec<u8>) {
        self.path.put(out);
        u8::from(self.hold).put(out);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        Some(Self { path: Wire::take(from)?, hold: u8::take(from)? != 0 })
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

/// What the process tells the probe.
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

/// A process that is prepared.
#[derive(Debug, PartialEq, Eq)]
pub struct Ready {
    /// As whom.
    pub identity: Identity,
    /// What preparing has used.
    pub used: CpuTime,
}
fields!(Ready { identity, used });

/// As whom a process runs.
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
    /// What was tried, and on what, or all that there is to say.
    pub what: String,
    /// The system's answer, as an error number.
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

    /// A failure that the system has no part in.
    pub fn saying(what: impl Into<String>) -> Self {
        Self { what: what.into(), errno: None }
    }
}

/// Says what was tried when the system refused it.
pub trait Context<T> {
    /// Adds what was tried, and on what; only worked out after a failure.
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

impl Wire for Pace {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::None => out.push(2),
            Self::Tick { later } => tagged(0, later, out),
            Self::Pause(pause) => {
                tagged(1, &u64::try_from(pause.as_micros()).unwrap_or(u64::MAX), out);
            }
        }
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        match u8::take(from)? {
            0 => u32::take(from).map(|later| Self::Tick { later }),
            1 => u64::take(from).map(|pause| Self::Pause(Duration::from_micros(pause))),
            2 => Some(Self::None),
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

/// Appends which kind a value is of, and the value.
fn tagged(tag: u8, value: &impl Wire, out: &mut Vec<u8>) {
    out.push(tag);
    value.put(out);
}
