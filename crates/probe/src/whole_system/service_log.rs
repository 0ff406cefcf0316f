//! A service: its processes, what it prints, how it ends.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
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

/// How much of what a service prints is kept at most, in bytes: a guest's files are its memory.
const MOST: u64 = 16 << 20;
/// How much of it is kept when that is reached, in bytes: its end, which explains failures.
const KEPT: u64 = 64 << 10;

/// What a service prints, written to a file as it comes, and shortened where it becomes too long.
///
/// The service gets a pipe and not the file: under SELinux every daemon may write to a pipe of its
/// init, while there is no file that all of them may write to.
pub struct Log {
    /// Where it is written to.
    pub path: String,
    source: Option<OwnedFd>,
    file: File,
    /// How long the file is, where all of it could be written.
    length: u64,
}

impl Log {
    /// A log, and the end to give to the service.
    pub fn new(path: String) -> Result<(Self, OwnedFd)> {
        let mut options = File::options();
        // It is written at its end, wherever that is: it may have been shortened.
        options.read(true).append(true).create(true);
        let file = options.open(&path).context(|| path.clone())?;
        file.set_len(0).context(|| path.clone())?;
        let (source, sink) = pipe_with(PipeFlags::CLOEXEC).context(|| "a pipe".into())?;
        ioctl_fionbio(&source, true).context(|| "a pipe".into())?;
        // More than an ordinary user may have; without it there is less room.
        let _ = fcntl_setpipe_size(&source, ROOM);
        Ok((Self { path, source: Some(source), file, length: 0 }, sink))
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
                Ok(length) => drop(self.write(&portion[..length])),
                Err(_) => return,
            }
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let more = bytes.len() as u64;
        if self.length + more > MOST {
            self.shorten()?;
        }
        self.length += more;
        self.file.write_all(bytes)
    }

    /// Keeps the end of the file alone.
    fn shorten(&mut self) -> io::Result<()> {
        let length = self.file.metadata()?.len();
        let kept = KEPT.min(length);
        let mut end = vec![0; usize::try_from(kept).map_err(io::Error::other)?];
        self.file.read_exact_at(&mut end, length - kept)?;
        self.file.set_len(0)?;
        self.length = kept;
        self.file.write_all(&end)
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

/// How something ended, in words.
pub fn how(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("status {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "an unknown status".into(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::process::Command;

    use super::{KEPT, Log, MOST, ROOM};

    #[test]
    fn of_what_prints_without_end_the_last_is_kept() {
        let folder = tempfile::tempdir().expect("room");
        let path = folder.path().join("log");
        let (mut log, sink) = Log::new(path.to_string_lossy().into_owned()).expect("a log");
        let portion = vec![b'x'; ROOM / 2];
        let mut most = 0;
        for _ in 0..=2 * MOST / portion.len() as u64 {
            rustix::io::write(&sink, &portion).expect("room");
            log.take();
            most = most.max(fs::metadata(&path).expect("there").len());
        }
        assert!(most > MOST / 2 && most <= MOST, "{most}");
        rustix::io::write(&sink, b"the last").expect("room");
        log.take();
        let text = fs::read(&path).expect("there");
        assert!(text.len() as u64 > KEPT && text.ends_with(b"xxthe last"));
    }

    #[test]
    fn what_prints_without_end_does_not_keep_the_probe() {
        let folder = tempfile::tempdir().expect("room");
        let path = folder.path().join("log");
        let (mut log, sink) = Log::new(path.to_string_lossy().into_owned()).expect("a log");
        let mut endless = Command::new("yes").stdout(File::from(sink)).spawn().expect("starts");
        for _ in 0..3 {
            log.take();
        }
        assert!(fs::metadata(&path).expect("there").len() <= 3 * ROOM as u64);
        endless.kill().and_then(|()| endless.wait()).map(drop).expect("killed");
    }
}
