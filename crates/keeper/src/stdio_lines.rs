//! The lines of standard input and output, with time limits; audit's records are taken meanwhile.

use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hardcost_linux::daemon::Daemon;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, read};
use rustix::stdio::{stdin, stdout};

use crate::auditing;
use crate::failure::{Failure, Result};

/// The longest line that is taken, in bytes.
const LONGEST: usize = 64 << 20;

/// What was read, and is no whole line yet.
#[derive(Default)]
pub struct Lines {
    read: Vec<u8>,
}

impl Lines {
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

/// How long whoever listens may take for a piece, in seconds.
const PATIENCE: i64 = 30;
/// As much as a pipe takes without waiting, if it takes anything.
const PIECE: usize = 4096;
/// Whether nobody listens any more.
static UNHEARD: AtomicBool = AtomicBool::new(false);

/// Writes to standard output, unless nobody takes it: nothing is left changed for want of a reader.
pub fn write(text: &[u8]) {
    for piece in text.chunks(PIECE) {
        let mut rest = piece;
        while !rest.is_empty() && !UNHEARD.load(Ordering::Relaxed) {
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
                Err(_) => UNHEARD.store(true, Ordering::Relaxed),
            }
        }
    }
}

/// Waits for something to read, and discards audit's records meanwhile; whether there is something.
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
        daemon.take(|_| ()).map_err(|error| auditing::explain(&error))?;
    }
    Ok(ready)
}
