//! The answers.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::protocol::requests::ClockName;

/// The answer to a request.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
        /// Time-stamp counter ticks that the stop for a snapshot took, on several processors those
        /// that others used up during it; null where there was no stop.
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
    /// `counters` is done.
    Counters {
        /// Which.
        names: Vec<String>,
        /// The error number with which the kernel refuses to count them; null where it does not.
        refused: Option<i32>,
    },
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
    /// `count` is done.
    Counted {
        /// What it is called.
        name: String,
        /// Numbers by what they say.
        numbers: BTreeMap<&'static str, u64>,
        /// How often each text was there: an event's key, or a denial.
        texts: BTreeMap<String, u64>,
    },
    /// `await` is done.
    Awaited {
        /// What it is called.
        name: String,
    },
    /// `parallel` is done.
    Parallel(ParallelStarted),
    /// `dropcaches` is done.
    Dropped {},
    /// `perturb` is done.
    Perturbed {
        /// Which change.
        number: u32,
    },
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
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    /// Nanoseconds that each companion ran between the first window and the last, by processor.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub companions: BTreeMap<String, u64>,
    /// What the processor counted, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counters: Option<CallCounters>,
}

/// What a processor counted of a call, in a process that is not timed, and in all that it started.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CallCounters {
    /// In how many windows.
    pub windows: u32,
    /// Counts by event.
    pub counts: BTreeMap<String, u64>,
    /// Nanoseconds in which they should have been counted.
    pub enabled: u64,
    /// Nanoseconds in which they were: fewer where others needed the counters, too.
    pub running: u64,
}

/// One run of a measured program.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    /// What became of the time of several processors, where that is what was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallel: Option<ParallelSpan>,
}

/// A program that was run to its end.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    /// What became of the time of several processors, where that is what was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallel: Option<ParallelSpan>,
}

/// The clock of several processors, calibrated: in a span all did nothing but count.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ParallelStarted {
    /// What the processor with the clock counted.
    pub clock: u64,
    /// What each measured processor counted.
    pub counts: Vec<u64>,
    /// What all executed together, in instructions.
    pub ticks: u64,
}

/// What became of a span of several processors' time, in instructions.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ParallelSpan {
    /// What all executed, between two readings of the time-stamp counter.
    pub ticks: u64,
    /// The same, but for the one with the clock, whose count is estimated.
    pub executed: u64,
    /// How much of that each measured processor executed because it had nothing to do.
    pub idle: Vec<u64>,
}

/// A service that answers.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StoppedAnswer {
    /// What it was called.
    pub name: String,
    /// Its exit status; null if a signal ended it or it is unknown.
    pub status: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether it stayed, and had to be killed.
    pub forced: bool,
    /// The ends of its logs, by path.
    pub logs: BTreeMap<String, String>,
}

/// Audit records of one process tree in one span of time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AuditCounts {
    /// SYSCALL records.
    pub records: u64,
    /// Records that the kernel dropped, whoever caused them.
    pub lost: u32,
    /// SYSCALL records that bear a key; those without one under the empty string.
    pub by_key: BTreeMap<String, u64>,
}

/// What was seen; each of the last three is null where it was not asked for or is not there.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WatchedAnswer {
    /// Nanoseconds from row to row: as asked for, or doubled as often as there were too many rows.
    pub period: u64,
    /// Ticks of the time-stamp counter from the watch's begin to its end.
    pub ticks: u64,
    /// Nanoseconds of the guest's clock for the same.
    pub nanoseconds: u64,
    /// When each row was taken, in ticks since the watch began.
    pub times: Vec<u64>,
    /// Nanoseconds that the watching itself had of the processor.
    pub own: u64,
    /// The processor.
    pub cpu: Option<CpuSeen>,
    /// The kernel's queue of audit records.
    pub audit: Option<AuditSeen>,
    /// `SELinux`'s cache of decisions.
    pub avc: Option<AvcSeen>,
}

/// What was seen of the processor. All is in nanoseconds.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CpuSeen {
    /// How many processors there are.
    pub processors: u64,
    /// What the processes of each name had.
    pub processes: BTreeMap<String, u64>,
    /// What no process had, or only one that runs when no other wants to.
    pub idle: u64,
    /// From row to row: `idle`, and those that had the most.
    pub series: BTreeMap<String, Vec<u64>>,
    /// From row to row, in programs; sampled, in steps of 10 ms.
    pub user: Vec<u64>,
    /// From row to row, in the kernel; sampled, in steps of 10 ms.
    pub system: Vec<u64>,
    /// How much of `processes` is of those that ended, and split by the number of ends.
    pub split: u64,
    /// Whether what a process had is known even where it ended between two rows.
    pub exact: bool,
}

/// What was seen of the queue.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AuditSeen {
    /// Records lost from the beginning to the end.
    pub lost: u64,
    /// The most that were queued at any look.
    pub backlog_peak: u64,
    /// Records lost from row to row.
    pub lost_series: Vec<u64>,
    /// Records queued at each row.
    pub backlog_series: Vec<u64>,
}

/// What was seen of the cache.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AvcSeen {
    /// The whole watch's, by column.
    pub totals: BTreeMap<&'static str, u64>,
    /// From row to row.
    pub series: BTreeMap<&'static str, Vec<u64>>,
}
