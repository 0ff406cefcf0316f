//! The requests about programs and services, as they are written.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::clock::ClockName;

/// A program to be run to its end.
#[derive(Debug, Deserialize)]
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
#[serde(deny_unknown_fields)]
pub struct StartJob {
    /// What it is called.
    pub name: String,
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// How to tell that it answers.
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

/// How to tell that a service answers: exactly one of `tcp`, `unix`, `file` and `run`.
#[derive(Debug, Default, Deserialize)]
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
    libc::SIGTERM
}
