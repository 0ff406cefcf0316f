//! The measured program's file, and the connection to a process that runs it.

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

/// The program's file name. It is in the folder of the probe.
pub const NAME: &str = "hardcost-measured";

/// The program, opened when it was found: a change of root may hide its path.
static FOUND: OnceLock<File> = OnceLock::new();

/// The path of a program in the folder of the probe.
pub fn sibling_path(name: &str) -> Result<PathBuf> {
    const OWN: &str = "/proc/self/exe";
    let path = fs::read_link(OWN).context(|| OWN.into())?.with_file_name(name);
    if path.is_file() {
        return Ok(path);
    }
    let message = format!("the program {} is missing: it belongs beside the probe", path.display());
    Err(Error::Other(message))
}

/// The path by which this process and its children can execute the program, which is looked up
/// once.
pub fn path() -> Result<String> {
    let file = if let Some(file) = FOUND.get() {
        file
    } else {
        let path = sibling_path(NAME)?;
        let file = File::open(&path).context(|| path.display().to_string())?;
        FOUND.get_or_init(|| file)
    };
    Ok(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// A command for a new process, and the connection to it.
pub fn command() -> Result<(Command, Conversation)> {
    let path = path()?;
    let (near, far) = UnixStream::pair().context(|| "a pair of sockets".into())?;
    let mut command = Command::new(path);
    command.arg0(NAME).stdin(OwnedFd::from(far));
    Ok((command, Conversation { channel: Channel::new(near.into()) }))
}

/// The probe's end of the connection.
pub struct Conversation {
    channel: Channel,
}

impl Conversation {
    /// Sends an order.
    pub fn send(&self, order: &Order) -> Result<()> {
        self.channel.send(order).map_err(refusal).context(connection)
    }

    /// Waits for a reply; `None` if the process has ended. A reported failure is an error.
    pub fn receive(&self) -> Result<Option<Reply>> {
        match self.channel.receive().map_err(refusal).context(connection)? {
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

fn connection() -> String {
    "talking with the measured process".into()
}
