//! The log of a service: what it prints, of which the end is kept.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;

use rustix::io::{ioctl_fionbio, read};
use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};

use crate::error::{Context, Result};

/// How many bytes a service may print while the probe is busy.
const ROOM: usize = 1 << 20;
/// How many bytes to read at once.
const PORTION: usize = 64 << 10;

/// How many bytes of a service's output are kept at most: a guest's files are in its memory.
const MOST: u64 = 16 << 20;
/// How many bytes are kept once that is reached: the end, which explains failures.
const KEPT: u64 = 64 << 10;

/// The log of a service: a file to which its output is written, and which is cut when it gets too
/// long.
///
/// The service gets a pipe, not the file: under SELinux every daemon may write to a pipe of its
/// init, but no kind of file is writable for all of them.
pub struct ServiceLog {
    /// The path of the file.
    pub path: String,
    source: Option<OwnedFd>,
    file: File,
    /// The length of the file, if every write succeeded.
    length: u64,
}

impl ServiceLog {
    /// A log, and the end of its pipe for the service.
    pub fn new(path: String) -> Result<(Self, OwnedFd)> {
        let mut options = File::options();
        // Appends at the end, since the file may have been cut.
        options.read(true).append(true).create(true);
        let file = options.open(&path).context(|| path.clone())?;
        file.set_len(0).context(|| path.clone())?;
        let (source, sink) = pipe_with(PipeFlags::CLOEXEC).context(|| "a pipe".into())?;
        ioctl_fionbio(&source, true).context(|| "a pipe".into())?;
        // An ordinary user may not have so much; the pipe is smaller then.
        let _ = fcntl_setpipe_size(&source, ROOM);
        Ok((Self { path, source: Some(source), file, length: 0 }, sink))
    }

    /// The pipe to read from, unless it is closed.
    pub fn source(&self) -> Option<BorrowedFd<'_>> {
        self.source.as_ref().map(AsFd::as_fd)
    }

    /// Reads what is there, up to the pipe's size; does not wait.
    ///
    /// The rest is read the next time: a service may print endlessly.
    pub fn take(&mut self) {
        let mut portion = vec![0; PORTION];
        for _ in 0..ROOM / PORTION {
            let Some(source) = &self.source else { return };
            match read(source, &mut portion[..]) {
                Ok(0) => self.source = None,
                // A failed write loses output; that must not hold up the session.
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

    /// Keeps only the end of the file.
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

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::process::Command;

    use super::{KEPT, MOST, ROOM, ServiceLog};

    #[test]
    fn of_what_prints_without_end_the_last_is_kept() {
        let folder = tempfile::tempdir().expect("room");
        let path = folder.path().join("log");
        let (mut log, sink) = ServiceLog::new(path.to_string_lossy().into_owned()).expect("a log");
        let portion = vec![b'x'; ROOM / 2];
        rustix::io::write(&sink, b"the first").expect("room");
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
        assert!(text.starts_with(b"xx"));
    }

    #[test]
    fn what_prints_without_end_does_not_keep_the_probe() {
        let folder = tempfile::tempdir().expect("room");
        let path = folder.path().join("log");
        let (mut log, sink) = ServiceLog::new(path.to_string_lossy().into_owned()).expect("a log");
        let mut endless = Command::new("yes").stdout(File::from(sink)).spawn().expect("starts");
        for _ in 0..3 {
            log.take();
        }
        assert!(fs::metadata(&path).expect("there").len() <= 3 * ROOM as u64);
        endless.kill().and_then(|()| endless.wait()).map(drop).expect("killed");
    }
}
