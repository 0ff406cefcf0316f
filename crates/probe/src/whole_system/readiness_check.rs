//! The readiness check: whether a service answers.

use std::fs;
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, connect, recv,
    send, socket_with, sockopt,
};

use crate::error::{Error, Result};
use crate::processes::outputs::{OUTPUT_LIMIT, Outputs, Wakeup};
use crate::processes::wait::{BackgroundSource, Deadline, wait};
use crate::protocol::ReadyJob;
use crate::whole_system::program_process::{self, ProgramProcess};

/// How long to wait before the next attempt: at first, and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(64);
/// How many bytes a service may send before the expected text.
const MOST: usize = 1 << 20;

/// How to check that a service answers.
#[derive(Clone, Debug)]
pub enum ReadinessCheck {
    /// It listens at a socket, and sends what is expected.
    Socket(Address, Exchange),
    /// A file exists, and contains a text.
    File(String, Option<String>),
    /// A program ends with 0.
    Run(Vec<String>),
}

/// Where a service listens.
#[derive(Clone, Debug)]
pub enum Address {
    /// At a port of 127.0.0.1.
    Port(u16),
    /// At a socket in the file system.
    Path(String),
}

/// What to send to a service, and what it must send.
#[derive(Clone, Debug, Default)]
pub struct Exchange {
    send: String,
    expect: String,
}

impl ReadinessCheck {
    /// The check of a request, if that is valid.
    pub fn of(job: ReadyJob) -> Result<Self> {
        let talk =
            Exchange { send: job.send.unwrap_or_default(), expect: job.expect.unwrap_or_default() };
        let talks = !talk.send.is_empty() || !talk.expect.is_empty();
        match (job.tcp, job.unix, job.file, job.run) {
            (Some(port), None, None, None) => Ok(Self::Socket(Address::Port(port), talk)),
            (None, Some(path), None, None) => Ok(Self::Socket(Address::Path(path), talk)),
            (None, None, Some(path), None) if !talks => Ok(Self::File(path, job.contains)),
            (None, None, None, Some(argv)) if !talks => Ok(Self::Run(argv)),
            _ => Err(Error::Other(
                "ready: one of tcp, unix, file and run; send and expect with the first two".into(),
            )),
        }
    }

    /// Checks that no other process listens there, which would answer in the service's place.
    pub fn refuse_others(
        &self,
        background: &mut dyn BackgroundSource,
        deadline: Deadline,
    ) -> Result<()> {
        let Self::Socket(address, _) = self else { return Ok(()) };
        match Exchange::default().attempt(address, background, deadline)? {
            Ok(()) => {
                Err(Error::Other(format!("{address} is taken: another program listens there")))
            }
            Err(_) => Ok(()),
        }
    }

    /// Waits until the service answers. Returns the number of attempts, or at the deadline why it
    /// does not.
    pub fn wait(
        &self,
        background: &mut dyn BackgroundSource,
        deadline: Deadline,
    ) -> Result<std::result::Result<u32, String>> {
        let mut pause = FIRST_PAUSE;
        for attempts in 1.. {
            let why = match self.attempt(background, deadline)? {
                Ok(()) => return Ok(Ok(attempts)),
                Err(why) => why,
            };
            if deadline.is_over() {
                return Ok(Err(why));
            }
            wait(&[], background, deadline.or_in(pause))?;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        unreachable!("the numbers do not end")
    }

    /// Makes one attempt. Returns why the service does not answer. A dead service is an error.
    pub fn attempt(
        &self,
        background: &mut dyn BackgroundSource,
        deadline: Deadline,
    ) -> Result<std::result::Result<(), String>> {
        match self {
            Self::Socket(address, talk) => talk.attempt(address, background, deadline),
            Self::File(path, contains) => Ok(holds(path, contains.as_deref())),
            Self::Run(argv) => succeeds(argv, background, deadline),
        }
    }
}

/// Whether a file exists and contains a text.
fn holds(path: &str, text: Option<&str>) -> std::result::Result<(), String> {
    let Some(text) = text else {
        return if Path::new(path).exists() { Ok(()) } else { Err(format!("there is no {path}")) };
    };
    let content = fs::read(path).map_err(|error| format!("{path}: {error}"))?;
    if has(&content, text) { Ok(()) } else { Err(format!("{path} does not hold {text:?}")) }
}

/// Whether bytes contain a text.
fn has(bytes: &[u8], text: &str) -> bool {
    memchr::memmem::find(bytes, text.as_bytes()).is_some()
}

/// Whether a program ends with 0.
fn succeeds(
    argv: &[String],
    background: &mut dyn BackgroundSource,
    deadline: Deadline,
) -> Result<std::result::Result<(), String>> {
    let (mut outputs, sinks) = Outputs::new(OUTPUT_LIMIT)?;
    let mut process =
        ProgramProcess::prepare(program_process::of_system(argv)?, sinks, background, deadline)?;
    process.go()?;
    let woken = outputs.wait(process.ended.as_fd(), None, background, deadline);
    if !matches!(woken, Ok(Wakeup { ended: true, .. })) {
        process.kill();
        return woken.map(|_| Err(format!("{} does not end", argv[0])));
    }
    let status = process.reap()?;
    outputs.take_rest()?;
    process.failure()?;
    let said = outputs.stderr.text() + &outputs.stdout.text();
    Ok(if status.success() { Ok(()) } else { Err(format!("{}: {}", argv[0], said.trim())) })
}

impl Exchange {
    /// Connects, sends the text, and waits for the expected one.
    fn attempt(
        &self,
        address: &Address,
        background: &mut dyn BackgroundSource,
        deadline: Deadline,
    ) -> Result<std::result::Result<(), String>> {
        let socket = match address.connect() {
            Ok(socket) => socket,
            Err(error) => return Ok(Err(format!("{address}: {error}"))),
        };
        let mut done = wait(&[(socket.as_fd(), PollFlags::OUT)], background, deadline)? == [true];
        if let Ok(Err(error)) = sockopt::socket_error(&socket) {
            return Ok(Err(format!("{address}: {error}")));
        }
        if done && !self.send.is_empty() {
            done = send(&socket, self.send.as_bytes(), SendFlags::NOSIGNAL) == Ok(self.send.len());
        }
        let mut received = Vec::new();
        while done && !has(&received, &self.expect) {
            done = wait(&[(socket.as_fd(), PollFlags::IN)], background, deadline)? == [true]
                && received.len() < MOST
                && receive(&socket, &mut received);
        }
        let received = String::from_utf8_lossy(&received);
        Ok(if done { Ok(()) } else { Err(format!("{address} says {:?}", received.trim_end())) })
    }
}

/// Reads what is there; false: no more will come.
fn receive(socket: &OwnedFd, received: &mut Vec<u8>) -> bool {
    let mut portion = [0; 4096];
    match recv(socket, &mut portion[..], RecvFlags::empty()) {
        Ok((0, _)) => false,
        Ok((length, _)) => {
            received.extend(&portion[..length]);
            true
        }
        Err(error) => matches!(error, Errno::AGAIN | Errno::INTR),
    }
}

impl Address {
    /// Begins to connect; does not wait.
    fn connect(&self) -> rustix::io::Result<OwnedFd> {
        let stream = |family, kind| {
            socket_with(family, kind, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK, None)
        };
        match self {
            Self::Port(port) => {
                let socket = stream(AddressFamily::INET, SocketType::STREAM)?;
                let there = std::net::SocketAddrV4::new(Ipv4Addr::LOCALHOST, *port);
                match connect(&socket, &there) {
                    Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
                    Err(error) => Err(error),
                }
            }
            Self::Path(path) => {
                let there = SocketAddrUnix::new(path)?;
                let socket = stream(AddressFamily::UNIX, SocketType::STREAM)?;
                match connect(&socket, &there) {
                    // A datagram socket, such as a system log's.
                    Err(Errno::PROTOTYPE) => {
                        let socket = stream(AddressFamily::UNIX, SocketType::DGRAM)?;
                        connect(&socket, &there).map(|()| socket)
                    }
                    result => result.map(|()| socket),
                }
            }
        }
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Port(port) => write!(out, "port {port}"),
            Self::Path(path) => out.write_str(path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ReadinessCheck, has, holds};
    use crate::protocol::ReadyJob;

    #[test]
    fn exactly_one_way_to_tell_must_be_named() {
        let of = |text: &str| {
            ReadinessCheck::of(serde_json::from_str::<ReadyJob>(text).expect("well-formed")).is_ok()
        };
        assert!(of(r#"{"tcp": 80, "send": "x", "expect": "y"}"#) && of(r#"{"run": ["true"]}"#));
        assert!(of(r#"{"unix": "/s"}"#) && of(r#"{"file": "/f", "contains": "x"}"#));
        assert!(!of("{}") && !of(r#"{"tcp": 80, "file": "/f"}"#));
        assert!(!of(r#"{"file": "/f", "send": "x"}"#));
    }

    #[test]
    fn a_text_is_found_anywhere_and_no_text_everywhere() {
        assert!(has(b"220 hello", "220") && has(b"220 hello", "lo") && has(b"", ""));
        assert!(!has(b"22", "220"));
        assert!(holds("/proc/self/status", Some("Name:")).is_ok() && holds("/proc", None).is_ok());
        let missing = holds("/proc/self/status", Some("no such")).expect_err("it is not there");
        assert!(missing.contains("does not hold"), "{missing}");
        assert!(holds("/no/such", None).is_err() && holds("/no/such", Some("x")).is_err());
    }
}
