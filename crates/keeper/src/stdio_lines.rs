//! Lines on standard input and output, with time limits. Meanwhile audit's records are discarded.

use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hardcost_linux::audit_daemon::Daemon;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, read};
use rustix::stdio::{stdin, stdout};

use crate::changes::audit;
use crate::failure::{Failure, Result};

/// The longest line, in bytes.
const LONGEST: usize = 64 << 20;

/// What was read after the last complete line.
#[derive(Default)]
pub struct InputLines {
    read: Vec<u8>,
}

impl InputLines {
    /// The next line; `None`: the stream ended, or nothing came for so long.
    pub fn next(
        &mut self,
        limit: Duration,
        mut daemon: Option<&mut Daemon>,
    ) -> Result<Option<Vec<u8>>> {
        let until = Instant::now() + limit;
        loop {
            if let Some(at) = self.read.iter().position(|&byte| byte == b'\n') {
                let mut line: Vec<u8> = self.read.drain(..=at).collect();
                line.pop();
                return Ok(Some(line));
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || self.read.len() > LONGEST {
                return Ok(None);
            }
            if !wait(left, daemon.as_deref_mut())? {
                continue;
            }
            let mut piece = [0; PIECE];
            match read(stdin(), &mut piece) {
                Ok(0) => return Ok(None),
                Ok(length) => self.read.extend_from_slice(&piece[..length]),
                Err(Errno::INTR | Errno::AGAIN) => {}
                Err(_) => return Ok(None),
            }
        }
    }
}

/// How long the reader may take for a piece, in seconds.
const PATIENCE: i64 = 30;
/// What a pipe takes without blocking, if it takes anything.
const PIECE: usize = 4096;
/// Whether the reader is gone.
static NO_READER: AtomicBool = AtomicBool::new(false);

/// Writes to standard output. Stops if it has no reader: a missing reader must not keep changes
/// from being undone.
pub fn write(text: &[u8]) {
    for piece in text.chunks(PIECE) {
        let mut rest = piece;
        while !rest.is_empty() && !NO_READER.load(Ordering::Relaxed) {
            let mut out = [PollFd::from_borrowed_fd(stdout(), PollFlags::OUT)];
            let most = Timespec { tv_sec: PATIENCE, tv_nsec: 0 };
            let written = match poll(&mut out, Some(&most)) {
                Ok(0) => Err(Errno::TIMEDOUT),
                Ok(_) => rustix::io::write(stdout(), rest),
                Err(error) => Err(error),
            };
            match written {
                Ok(length) => rest = &rest[length..],
                Err(Errno::INTR | Errno::AGAIN) => {}
                Err(_) => NO_READER.store(true, Ordering::Relaxed),
            }
        }
    }
}

/// Waits for input, and discards audit's records meanwhile. Returns whether there is input.
fn wait(most: Duration, daemon: Option<&mut Daemon>) -> Result<bool> {
    let most = Timespec::try_from(most)
        .map_err(|error| Failure::Failed(format!("no time to wait: {error}")))?;
    let input = stdin();
    let mut sources = vec![PollFd::from_borrowed_fd(input, PollFlags::IN)];
    if let Some(daemon) = &daemon {
        sources.push(PollFd::from_borrowed_fd(daemon.as_fd(), PollFlags::IN));
    }
    match poll(&mut sources, Some(&most)) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(Failure::Failed(format!("waiting: {error}"))),
    }
    let ready = !sources[0].revents().is_empty();
    drop(sources);
    if let Some(daemon) = daemon {
        daemon.take(|_| ()).map_err(|error| audit::explain(&error))?;
    }
    Ok(ready)
}
