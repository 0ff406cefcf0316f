//! A service: its processes, what it prints, how it ends.

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use rustix::io::{ioctl_fionbio, read};
use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};
use rustix::process::{Pid, WaitOptions, waitpid};

use super::logs::{self, Logs};
use super::ready::Ready;
use crate::error::{Context, Result};

/// How much a service may print while the probe looks elsewhere, in bytes.
const ROOM: usize = 1 << 20;
/// How much to take at a time, in bytes.
const PORTION: usize = 64 << 10;

/// What a service prints, written to a file as it comes.
///
/// The service gets a pipe and not the file: under SELinux every daemon may write to a pipe of its
/// init, while there is no file that all of them may write to.
pub struct Log {
    /// Where it is written to.
    pub path: String,
    source: Option<OwnedFd>,
    file: File,
}

impl Log {
    /// A log, and the end to give to the service.
    pub fn new(path: String) -> Result<(Self, OwnedFd)> {
        let file = File::create(&path).context(|| path.clone())?;
        let (source, sink) = pipe_with(PipeFlags::CLOEXEC).context(|| "a pipe".into())?;
        ioctl_fionbio(&source, true).context(|| "a pipe".into())?;
        // More than an ordinary user may have; without it there is less room.
        let _ = fcntl_setpipe_size(&source, ROOM);
        Ok((Self { path, source: Some(source), file }, sink))
    }

    /// Takes what is there, as much as there is room for at most; does not wait.
    ///
    /// What comes meanwhile is left for the next time: a service may print without end.
    fn take(&mut self) {
        let mut portion = vec![0; PORTION];
        for _ in 0..ROOM / PORTION {
            let Some(source) = &self.source else { return };
            match read(source, &mut portion[..]) {
                Ok(0) => self.source = None,
                // What finds no room is lost, and what runs is not to be held up by that.
                Ok(length) => drop(self.file.write_all(&portion[..length])),
                Err(_) => return,
            }
        }
    }
}

/// A service that was started.
pub struct Service {
    /// What it is called.
    pub name: String,
    /// The process that it consists of; at first the one that was started.
    pub pid: Pid,
    /// Readable once that process has ended.
    pub ended: OwnedFd,
    /// How to tell that it answers.
    pub ready: Ready,
    /// Whether its end is no failure: it is being started or stopped.
    pub may_end: bool,
    /// How it ended, where that is known.
    pub status: Option<ExitStatus>,
    /// What it prints.
    pub log: Log,
    /// Other files that explain a failure.
    pub logs: Vec<String>,
}

impl Service {
    /// What to wait for on its behalf.
    pub fn sources(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let end = (!self.may_end).then_some(self.ended.as_fd());
        end.into_iter().chain(self.log.source.as_ref().map(AsFd::as_fd))
    }

    /// Takes what it has printed; does not wait.
    pub fn take(&mut self) {
        self.log.take();
    }

    /// Looks whether it has ended, and reaps it where it is ours to reap.
    pub fn reap(&mut self) {
        if let Ok(Some((_, status))) = waitpid(Some(self.pid), WaitOptions::NOHANG) {
            self.status = Some(ExitStatus::from_raw(status.as_raw()));
        }
    }

    /// The ends of its logs.
    pub fn logs(&mut self) -> Logs {
        self.take();
        let mut found = Logs::new();
        logs::add(&mut found, &self.log.path);
        for path in &self.logs {
            logs::add(&mut found, path);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::process::Command;

    use super::{Log, ROOM};

    #[test]
    fn what_prints_without_end_does_not_keep_the_probe() {
        let path = std::env::temp_dir().join(format!("hardcost-log.{}", std::process::id()));
        let (mut log, sink) = Log::new(path.to_string_lossy().into_owned()).expect("a log");
        let mut endless = Command::new("yes").stdout(File::from(sink)).spawn().expect("starts");
        for _ in 0..3 {
            log.take();
        }
        assert!(fs::metadata(&path).expect("there").len() <= 3 * ROOM as u64);
        endless.kill().and_then(|()| endless.wait()).map(drop).expect("killed");
        fs::remove_file(&path).expect("removed");
    }
}
