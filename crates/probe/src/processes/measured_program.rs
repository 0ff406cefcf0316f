//! The program of measured processes, and the conversation with one.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use hardcost_measured::channel::{Channel, Order, Reply};

use crate::error::{Context, Error, Result, refusal};

/// The program's file. It lies beside the probe's own.
pub const NAME: &str = "hardcost-measured";

/// The program, open since it was found: another root may take its path away.
static FOUND: OnceLock<File> = OnceLock::new();

/// Where a program is that belongs beside the probe's own.
pub fn beside(name: &str) -> Result<PathBuf> {
    const OWN: &str = "/proc/self/exe";
    let path = fs::read_link(OWN).context(|| OWN.into())?.with_file_name(name);
    if path.is_file() {
        return Ok(path);
    }
    let message = format!("the program {} is missing: it belongs beside the probe", path.display());
    Err(Error::Other(message))
}

/// Finds the program, unless it is found already, and returns the path by which this process, and
/// those that it forks, can execute it.
pub fn find() -> Result<String> {
    let file = if let Some(file) = FOUND.get() {
        file
    } else {
        let path = beside(NAME)?;
        let file = File::open(&path).context(|| path.display().to_string())?;
        FOUND.get_or_init(|| file)
    };
    Ok(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// A process that is not started yet, and the conversation with it.
pub fn process() -> Result<(Command, Conversation)> {
    let path = find()?;
    let (near, far) = UnixStream::pair().context(|| "a pair of sockets".into())?;
    let mut command = Command::new(path);
    command.arg0(NAME).stdin(OwnedFd::from(far));
    Ok((command, Conversation { channel: Channel::new(near.into()) }))
}

/// The probe's side of the conversation.
pub struct Conversation {
    channel: Channel,
}

impl Conversation {
    /// Tells the process to do something.
    pub fn tell(&self, order: &Order) -> Result<()> {
        self.channel.send(order).map_err(refusal).context(talking)
    }

    /// Waits for what it says; `None` if it has gone. That it failed is an error.
    pub fn hear(&self) -> Result<Option<Reply>> {
        match self.channel.receive().map_err(refusal).context(talking)? {
            Some(Reply::Failed(failure)) => Err(match failure.errno {
                Some(number) => Error::System {
                    what: failure.what,
                    source: io::Error::from_raw_os_error(number),
                },
                None => Error::Other(failure.what),
            }),
            reply => Ok(reply),
        }
    }
}

impl AsFd for Conversation {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.channel.as_fd()
    }
}

fn talking() -> String {
    "talking with the measured process".into()
}
