//! The requests.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// How many records the kernel may queue for the audit daemon unless the request says otherwise.
const BACKLOG_LIMIT: u32 = 8192;

/// Which clock to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ClockName {
    /// The time-stamp counter, in ticks.
    Tsc,
    /// `CLOCK_MONOTONIC`, in nanoseconds.
    Monotonic,
    /// Of programs alone, after `parallel`: what a measured processor could have executed, in
    /// instructions.
    Parallel,
}

/// Something to do.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
pub enum Request {
    /// Create directories (mode 0755) and empty files (0644) where they are missing.
    Make {
        /// Absolute paths.
        #[serde(default)]
        directories: Vec<String>,
        /// Absolute paths.
        #[serde(default)]
        files: Vec<String>,
    },
    /// Write a file.
    Install {
        /// Where.
        path: String,
        /// Permission bits.
        mode: u32,
        /// The content.
        base64: String,
        /// Whose it is to be.
        #[serde(default)]
        owner: Option<String>,
        /// Which group's.
        #[serde(default)]
        group: Option<String>,
    },
    /// Write a setting under `/proc` or `/sys`.
    Write {
        /// Which.
        path: String,
        /// Written as it is, by one system call; none: the value that it has already.
        #[serde(default)]
        value: Option<String>,
    },
    /// Become the audit daemon and load rules.
    Audit {
        /// The text of a rules file as `auditctl -R` takes it.
        rules: String,
        /// How many records the kernel may queue.
        #[serde(default = "default_backlog_limit")]
        backlog_limit: u32,
    },
    /// Measure system calls.
    Calls {
        /// What to read around each window.
        clock: ClockName,
        /// Which calls, in which order.
        calls: Vec<CallPlan>,
        /// How long all of them may take, in seconds; without, as long as the job may.
        #[serde(default)]
        limit: Option<f64>,
        /// How many processes make the call at the same time, each on a processor of its own; one
        /// of them is measured.
        #[serde(default)]
        copies: Option<u32>,
        /// What a processor is to count of each call, in a further process, such as `cycles` and
        /// `instructions:k`.
        #[serde(default)]
        counters: Vec<String>,
    },
    /// Say whether the processor counts some events at once.
    Counters {
        /// Which.
        names: Vec<String>,
    },
    /// Measure a program from its start to its end.
    Command(CommandPlan),
    /// Run a program to its end.
    Run(RunJob),
    /// Start a service and wait until it answers.
    Start(StartJob),
    /// Stop a service.
    Stop(StopJob),
    /// Mount a directory on itself with options.
    Mount {
        /// Which.
        path: String,
        /// Such as `noexec`; they come on top of those that hold already.
        options: Vec<String>,
    },
    /// Report the end of a file.
    Read {
        /// What the answer is called.
        name: String,
        /// Which file.
        path: String,
        /// How much of its end, in bytes.
        tail: u64,
    },
    /// Count what a log holds.
    Count(CountJob),
    /// Wait until a file, a socket or a program is as it should be.
    Await {
        /// What the answer is called.
        name: String,
        /// How to find out that it is so.
        until: ReadyJob,
        /// How long it may take, in seconds.
        limit: f64,
    },
    /// Start the clock of several processors, in a guest that has them.
    Parallel {
        /// The time that the turns of all processors share, in nanoseconds of the guest's clock.
        turns: u32,
    },
    /// Write back what is dirty, and drop page cache, names and inodes.
    DropCaches {},
    /// Change what means nothing: when things begin, how memory lies, what is random, how long the
    /// environment of programs is. It holds for the requests after it, until the next such one.
    Perturb {
        /// Which change; 0: none.
        number: u32,
    },
    /// Begin to watch.
    Watch {
        /// What.
        what: Vec<What>,
        /// Nanoseconds from row to row.
        period: u64,
    },
    /// End watching.
    Unwatch {},
}

fn default_backlog_limit() -> u32 {
    BACKLOG_LIMIT
}

/// How to measure one call.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CallPlan {
    /// A name out of `hardcost-probe list`.
    pub name: String,
    /// Operations in a timed window.
    pub batch: u32,
    /// Timed windows.
    pub samples: u32,
    /// Windows run before them and not reported.
    pub warmup: u32,
    /// Milliseconds from the end of a window to the next, at least, under the instruction counter.
    pub apart: u32,
}

/// A program to be measured from its start to its end.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CommandPlan {
    /// The program (searched for in `PATH`) and its arguments.
    pub argv: Vec<String>,
    /// What to read at start and end.
    pub clock: ClockName,
    /// How often to run it, each time in a new directory; 0 is once.
    #[serde(default)]
    pub runs: u32,
    /// No further run begins once all together have taken as many ticks (tsc) or nanoseconds
    /// (monotonic).
    #[serde(default)]
    pub enough: u64,
    /// How long each run may take, in seconds; without, as long as the job may.
    #[serde(default)]
    pub limit: Option<f64>,
}

/// What can be watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum What {
    /// Which process has the processor.
    Cpu,
    /// The kernel's queue of audit records.
    Audit,
    /// `SELinux`'s cache of decisions.
    Avc,
}

/// A program to be run to its end.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RunJob {
    /// What its answer is called.
    pub name: String,
    /// The program (searched for in `PATH`) and its arguments.
    pub argv: Vec<String>,
    /// What to read at start and end, where it is measured.
    #[serde(default)]
    pub clock: Option<ClockName>,
    /// As whom; a name of `/etc/passwd`.
    #[serde(default = "root")]
    pub user: String,
    /// The login id for audit.
    #[serde(default)]
    pub login: Option<u32>,
    /// The SELinux context, where SELinux is on.
    #[serde(default)]
    pub context: Option<String>,
    /// Variables, on top of `PATH` and `HOME`.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// The working directory.
    #[serde(default = "top")]
    pub folder: String,
    /// What it reads.
    #[serde(default)]
    pub stdin: String,
    /// The exit status that is no failure; `None`: any.
    #[serde(default)]
    pub expect: Option<i32>,
    /// How long it may take, in seconds.
    pub limit: f64,
}

/// A service to be started.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StartJob {
    /// What it is called.
    pub name: String,
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// How to find out that it answers.
    pub ready: ReadyJob,
    /// As whom.
    #[serde(default = "root")]
    pub user: String,
    /// The SELinux context, where SELinux is on.
    #[serde(default)]
    pub context: Option<String>,
    /// Variables, on top of `PATH` and `HOME`.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// The working directory.
    #[serde(default = "top")]
    pub folder: String,
    /// Files whose ends explain a failure, besides what it prints.
    #[serde(default)]
    pub logs: Vec<String>,
    /// Where it writes the number of its process, if it leaves the foreground.
    #[serde(default)]
    pub pid_file: Option<String>,
    /// How long it may take until it answers, in seconds.
    pub limit: f64,
}

/// A log to be counted.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CountJob {
    /// What the answer is called.
    pub name: String,
    /// What to count.
    pub of: LogKind,
    /// The log, of auditd for `audit` and `denials`; its older files, `PATH.1` and so on, belong to
    /// it.
    pub path: String,
}

/// What is counted in a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum LogKind {
    /// Of auditd: records, and events by key between our own two messages.
    Audit,
    /// Denials by a security module, here and in the kernel's log.
    Denials,
    /// Of syslog: audit records, and messages dropped.
    Messages,
}

/// How to find out that a service answers: exactly one of `tcp`, `unix`, `file` and `run`.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ReadyJob {
    /// A port of 127.0.0.1 to connect to.
    pub tcp: Option<u16>,
    /// A socket to connect to.
    pub unix: Option<String>,
    /// What to say to a port or socket.
    pub send: Option<String>,
    /// What must come from a port or socket.
    pub expect: Option<String>,
    /// A file that must be there.
    pub file: Option<String>,
    /// What the file must hold.
    pub contains: Option<String>,
    /// A program that must end with 0.
    pub run: Option<Vec<String>>,
}

/// A service to be stopped.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StopJob {
    /// Which.
    pub name: String,
    /// The program that stops it; none: the signal does.
    #[serde(default)]
    pub argv: Vec<String>,
    /// The signal's number.
    #[serde(default = "terminate")]
    pub signal: i32,
    /// How long it may take, in seconds; then it is killed.
    pub limit: f64,
}

fn root() -> String {
    "root".into()
}

fn top() -> String {
    "/".into()
}

fn terminate() -> i32 {
    15
}
