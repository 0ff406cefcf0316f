//! The conversation between the probe and a measured child: JSON lines over a pair of sockets.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::clock::ClockName;
use crate::cputime::CpuTime;
use crate::error::{Context, Result};
use crate::pace::Pace;
use crate::protocol::CallPlan;

/// What the probe tells the child.
#[derive(Debug, Deserialize, Serialize)]
pub enum Order {
    /// First of all: what to do, where and as whom. The child prepares and is `Ready`.
    Prepare {
        /// The working directory.
        directory: String,
        /// The user and group id to take on, login id included; `None`: stay who you are.
        identity: Option<u32>,
        /// What to do.
        task: Task,
    },
    /// First of all: the program to become. The child prepares and is `Ready`.
    Become(Program),
    /// Begin. A call is then `Done`; a command or program is never heard of again.
    Go,
    /// Hand over the samples.
    Report,
}

/// A program, and as whom and where it runs.
#[derive(Debug, Deserialize, Serialize)]
pub struct Program {
    /// The program (searched for in `PATH`) and its arguments.
    pub argv: Vec<String>,
    /// User, group and further groups; `None`: stay who you are.
    pub user: Option<(u32, u32, Vec<u32>)>,
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

/// What a child is there for.
#[derive(Debug, Deserialize, Serialize)]
pub enum Task {
    /// Measure a call.
    Call {
        /// What to read around each window.
        clock: ClockName,
        /// Which call, how often.
        plan: CallPlan,
        /// When each window begins.
        pace: Pace,
        /// The program that ends at once when executed under the name `noop`.
        noop: CString,
    },
    /// Become a program.
    Command {
        /// Its name and arguments.
        argv: Vec<String>,
    },
}

/// What the child tells the probe.
#[derive(Debug, Deserialize, Serialize)]
pub enum Reply {
    /// Prepared; waits for `Go`.
    Ready {
        /// As whom.
        identity: Identity,
        /// What preparing has used.
        used: CpuTime,
    },
    /// Measured; waits for `Report`.
    Done,
    /// The samples, in the clock's unit.
    Samples(Vec<u64>),
    /// Failed, and ends.
    Failed(String),
}

/// As whom a child runs.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct Identity {
    /// Its user id.
    pub uid: u32,
    /// Its login user id; `None` where unset.
    pub loginuid: Option<u32>,
    /// The audit session that it and all its descendants belong to; `None` where unset.
    pub session: Option<u32>,
}

/// One side of the conversation.
pub struct Channel {
    stream: BufReader<UnixStream>,
}

impl Channel {
    /// A side of the conversation out of its socket.
    pub fn new(stream: UnixStream) -> Self {
        Self { stream: BufReader::new(stream) }
    }

    /// Says something.
    pub fn send(&mut self, message: &impl Serialize) -> Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        self.stream.get_mut().write_all(&line).context(what)
    }

    /// Waits for what the other side says; `None` if it has gone.
    pub fn receive<M: DeserializeOwned>(&mut self) -> Result<Option<M>> {
        let mut line = Vec::new();
        match self.stream.read_until(b'\n', &mut line) {
            Ok(0) => Ok(None),
            Ok(_) => Ok(Some(serde_json::from_slice(&line)?)),
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(None),
            Err(error) => Err(error).context(what),
        }
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.get_ref().as_fd()
    }
}

fn what() -> String {
    "talking with the measured process".into()
}
