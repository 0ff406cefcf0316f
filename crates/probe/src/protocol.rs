//! The requests and answers of the probe protocol, one JSON object a line.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::clock::ClockName;
use crate::error::Result;
use crate::system::{RunJob, StartJob, StopJob};
use crate::watch::{WatchedAnswer, What};

/// The version of the protocol that this probe speaks.
pub const PROTOCOL_VERSION: u32 = 1;

/// How many records the kernel may queue for the audit daemon unless the request says otherwise.
const BACKLOG_LIMIT: u32 = 8192;

/// Something to do.
#[derive(Debug, Deserialize)]
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
    /// Tell the end of a file.
    Read {
        /// What the answer is called.
        name: String,
        /// Which file.
        path: String,
        /// How much of its end, in bytes.
        tail: u64,
    },
    /// Write back what is dirty, and drop page cache, names and inodes.
    DropCaches {},
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
}

/// What this program can measure; printed by `list`, apart from any session.
#[derive(Debug, Serialize)]
pub struct Listing {
    /// The protocol's version.
    pub protocol: u32,
    /// The calls' names.
    pub calls: Vec<&'static str>,
}

/// What came of it.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum Answer {
    /// The guest stands still now, for a snapshot to be taken.
    Ready,
    /// The first line of each session.
    Hello {
        /// The protocol's version.
        protocol: u32,
        /// The probe's version.
        probe: &'static str,
        /// The running kernel's release.
        kernel: String,
        /// Time-stamp counter ticks from before the stop to after it; null where there was none.
        gap: Option<u64>,
    },
    /// `make` is done.
    Made {
        /// How many of the directories named were missing.
        directories: usize,
        /// How many of the files named were missing.
        files: usize,
        /// The inode number of each path named: it decides on which calls a file's rule is tried.
        inodes: BTreeMap<String, u64>,
    },
    /// `install` is done.
    Installed {
        /// Where.
        path: String,
        /// The file's size.
        bytes: usize,
    },
    /// `write` is done.
    Written {
        /// Where.
        path: String,
        /// What stood there; null where that cannot be read.
        before: Option<String>,
        /// What stands there now; null where that cannot be read.
        after: Option<String>,
    },
    /// `audit` is done.
    Audit {
        /// auditctl's exit status; null if a signal ended it, 0 if there was nothing to load.
        exit: Option<i32>,
        /// What auditctl printed, the first 64 KiB.
        stdout: String,
        /// What it complained about, the first 64 KiB.
        stderr: String,
        /// Rules that the kernel holds now.
        loaded: usize,
    },
    /// The first answer to `calls`.
    Clock {
        /// What was read.
        clock: ClockName,
        /// Ticks (tsc) or nanoseconds (monotonic) of windows with nothing in them.
        overhead: Vec<u64>,
    },
    /// One call's answer to `calls`.
    Call(CallAnswer),
    /// `command` is done.
    Command(CommandAnswer),
    /// `run` is done.
    Ran(RanAnswer),
    /// `start` is done.
    Started(StartedAnswer),
    /// `stop` is done.
    Stopped(StoppedAnswer),
    /// `mount` is done.
    Mounted {
        /// Where.
        path: String,
        /// The options that the kernel shows for it.
        options: Vec<String>,
    },
    /// `read` is done.
    Content {
        /// What it is called.
        name: String,
        /// The file.
        path: String,
        /// Its end; null if there is no such file. What is no UTF-8 is replaced.
        text: Option<String>,
        /// The size of the file in bytes.
        bytes: Option<u64>,
    },
    /// `dropcaches` is done.
    Dropped {},
    /// `watch` is done.
    Watching {},
    /// `unwatch` is done.
    Watched(WatchedAnswer),
    /// A request failed; none after it is tried.
    Error {
        /// The request's index, from 0; null if it was none that failed.
        request: Option<usize>,
        /// Why.
        message: String,
        /// The ends of the logs of all that may have to do with it, by path or name.
        logs: BTreeMap<String, String>,
    },
    /// The last line of each session.
    End,
}

/// A measured call.
#[derive(Debug, Serialize)]
pub struct CallAnswer {
    /// Which.
    pub name: String,
    /// What the samples were read from.
    pub clock: ClockName,
    /// Operations in each window.
    pub batch: u32,
    /// Ticks (tsc) or nanoseconds (monotonic) of each window, the clock's overhead included.
    pub samples: Vec<u64>,
    /// The user that ran it.
    pub uid: u32,
    /// The login user that it ran as; null where unset.
    pub loginuid: Option<u32>,
    /// The records it made between the first window and the last; null without an audit daemon.
    pub audit: Option<AuditCounts>,
    /// What it printed, at most 4096 characters.
    pub output: String,
}

/// A program to be measured from its start to its end.
#[derive(Debug, Deserialize)]
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
}

/// One run of a measured program.
#[derive(Debug, Serialize)]
pub struct CommandAnswer {
    /// Its exit status; null if a signal ended it.
    pub status: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Ticks (tsc) or nanoseconds (monotonic) from just before its start to its being reaped.
    pub ticks: u64,
    /// How many of the kernel's ticks came within them; 0 where that was not counted.
    pub interruptions: u64,
    /// From one tick of the kernel's to the next, in nanoseconds; 0 as before.
    pub period: u64,
    /// Microseconds that it, and all that it waited for, spent in programs.
    pub user: u64,
    /// Microseconds that the kernel spent on their behalf.
    pub system: u64,
    /// The first 64 KiB of what it printed.
    pub stdout: String,
    /// How much that was in all.
    pub stdout_bytes: u64,
    /// The first 64 KiB of what it complained about.
    pub stderr: String,
    /// How much that was in all.
    pub stderr_bytes: u64,
    /// The records it made; null without an audit daemon.
    pub audit: Option<AuditCounts>,
}

/// A program that was run to its end.
#[derive(Debug, Serialize)]
pub struct RanAnswer {
    /// What it is called.
    pub name: String,
    /// Its exit status; null if a signal ended it.
    pub status: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Ticks (tsc) or nanoseconds (monotonic) from just before its start to its being reaped; null
    /// where it was not measured.
    pub ticks: Option<u64>,
    /// Microseconds that it, and all that it waited for, spent in programs.
    pub user: u64,
    /// Microseconds that the kernel spent on their behalf.
    pub system: u64,
    /// The first 64 KiB of what it printed.
    pub stdout: String,
    /// How much that was in all.
    pub stdout_bytes: u64,
    /// The first 64 KiB of what it complained about.
    pub stderr: String,
    /// How much that was in all.
    pub stderr_bytes: u64,
    /// When it began, in ticks since the watch; null without one.
    pub begin: Option<u64>,
    /// When it had ended.
    pub end: Option<u64>,
    /// The records it made; null where it was not measured, or without an audit daemon.
    pub audit: Option<AuditCounts>,
}

/// A service that answers.
#[derive(Debug, Serialize)]
pub struct StartedAnswer {
    /// What it is called.
    pub name: String,
    /// Its process.
    pub pid: i32,
    /// Ticks of the time-stamp counter from just before its start to its answer.
    pub ticks: u64,
    /// How often it was asked.
    pub attempts: u32,
    /// The security label of its process; null where the kernel gives none.
    pub context: Option<String>,
    /// When it began, in ticks since the watch; null without one.
    pub begin: Option<u64>,
    /// When it answered.
    pub end: Option<u64>,
}

/// A service that was stopped.
#[derive(Debug, Serialize)]
pub struct StoppedAnswer {
    /// What it was called.
    pub name: String,
    /// Its exit status; null if a signal ended it or it can't be told.
    pub status: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether it stayed, and had to be killed.
    pub forced: bool,
    /// The ends of its logs, by path.
    pub logs: BTreeMap<String, String>,
}

/// Audit records of one process tree in one stretch of time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AuditCounts {
    /// SYSCALL records.
    pub records: u64,
    /// Records that the kernel dropped, whoever caused them.
    pub lost: u32,
    /// SYSCALL records that bear a key; those without one under the empty string.
    pub by_key: BTreeMap<String, u64>,
}

/// Reads one line of a job.
pub fn parse(line: &[u8]) -> Result<Request> {
    Ok(serde_json::from_slice(line)?)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Answer, Request, parse};

    #[test]
    fn each_request_is_read() {
        let lines = [
            r#"{"do":"make","directories":["/a/b"],"files":["/a/b/c"]}"#,
            r#"{"do":"install","path":"/p","mode":493,"base64":"AA=="}"#,
            r#"{"do":"write","path":"/proc/sys/kernel/x","value":"1"}"#,
            r#"{"do":"audit","rules":"-D","backlog_limit":8192}"#,
            r#"{"do":"calls","clock":"tsc","calls":[{"name":"null","batch":1,"samples":101,"warmup":8}]}"#,
            r#"{"do":"command","argv":["/bin/true"],"clock":"monotonic"}"#,
            r#"{"do":"install","path":"/p","mode":493,"base64":"AA==","owner":"a","group":"b"}"#,
            r#"{"do":"run","name":"copy","argv":["cp","a","b"],"clock":"tsc","user":"user",
                "login":1000,"context":"a:b:c:s0","environment":{"A":"b"},"folder":"/home",
                "stdin":"x","expect":null,"limit":60}"#,
            r#"{"do":"start","name":"web","argv":["apache2"],"ready":{"tcp":80,"send":"GET"},
                "user":"root","context":null,"environment":{},"folder":"/","logs":["/l"],
                "pid_file":null,"limit":0.5}"#,
            r#"{"do":"stop","name":"web","argv":[],"signal":15,"limit":30}"#,
            r#"{"do":"mount","path":"/tmp","options":["noexec"]}"#,
            r#"{"do":"read","name":"log","path":"/l","tail":4096}"#,
            r#"{"do":"dropcaches"}"#,
            r#"{"do":"watch","what":["cpu","audit","avc"],"period":10000000}"#,
            r#"{"do":"unwatch"}"#,
        ];
        for line in lines {
            parse(line.as_bytes()).expect(line);
        }
    }

    #[test]
    fn what_may_be_left_out_has_its_default() {
        let request = parse(br#"{"do":"audit","rules":""}"#).expect("complete");
        assert!(matches!(request, Request::Audit { backlog_limit: 8192, .. }));
    }

    #[test]
    fn unknown_requests_fields_and_clocks_are_refused() {
        for line in [
            r#"{"do":"dance"}"#,
            r#"{"do":"make","directories":[],"files":[],"modes":[]}"#,
            r#"{"do":"calls","clock":"sundial","calls":[]}"#,
            r#"{"do":"calls","clock":"tsc","calls":[{"name":"null","batch":1,"samples":1,"warmup":0,"x":1}]}"#,
            r#"{"do":"command","argv":["/bin/true"]}"#,
            r#"{"do":"make""#,
            "[]",
        ] {
            assert!(parse(line.as_bytes()).is_err(), "{line}");
        }
    }

    #[test]
    fn an_answer_is_tagged_with_its_event() {
        let inodes = BTreeMap::from([("/a".to_owned(), 7)]);
        let text = serde_json::to_string(&Answer::Made { directories: 1, files: 0, inodes })
            .expect("serializes");
        assert_eq!(text, r#"{"event":"made","directories":1,"files":0,"inodes":{"/a":7}}"#);
        assert_eq!(serde_json::to_string(&Answer::End).expect("serializes"), r#"{"event":"end"}"#);
    }
}
