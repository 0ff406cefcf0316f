//! A program's output pipe: its first bytes are kept, all are counted.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::{Errno, ioctl_fionbio, ioctl_fionread, read};
use rustix::pipe::{PipeFlags, pipe_with};

/// How many bytes to read at once: as many as the pipe holds.
const PORTION: usize = 64 << 10;

/// The read end of a program's output.
pub struct OutputPipe {
    source: Option<OwnedFd>,
    kept: Vec<u8>,
    limit: usize,
    total: u64,
}

impl OutputPipe {
    /// A pipe of which the first `limit` bytes are kept, and the end for the program.
    pub fn new(limit: usize) -> io::Result<(Self, OwnedFd)> {
        let (source, sink) = pipe_with(PipeFlags::CLOEXEC)?;
        ioctl_fionbio(&source, true)?;
        Ok((Self { source: Some(source), kept: Vec::new(), limit, total: 0 }, sink))
    }

    /// The descriptor to wait for; `None` when all write ends are closed.
    pub fn source(&self) -> Option<BorrowedFd<'_>> {
        self.source.as_ref().map(AsFd::as_fd)
    }

    /// Reads what is there, up to a portion; does not wait.
    pub fn take(&mut self) -> io::Result<()> {
        self.take_up_to(PORTION)
    }

    /// Reads all that is there now, and does not wait for more.
    pub fn take_rest(&mut self) -> io::Result<()> {
        let Some(source) = &self.source else {
            return Ok(());
        };
        let there = usize::try_from(ioctl_fionread(source)?).unwrap_or(PORTION);
        self.take_up_to(there)
    }

    fn take_up_to(&mut self, most: usize) -> io::Result<()> {
        let Some(source) = &self.source else {
            return Ok(());
        };
        let mut portion = vec![0; most];
        match read(source, &mut portion[..]) {
            Ok(0) if most > 0 => self.source = None,
            Ok(count) => self.keep(&portion[..count]),
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = self.limit - self.kept.len();
        self.kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// The kept bytes as text; invalid UTF-8 is replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.kept).into_owned()
    }

    /// How many bytes there were.
    pub fn total(&self) -> u64 {
        self.total
    }
}

#[cfg(test)]
mod tests {
    use super::OutputPipe;

    #[test]
    fn the_beginning_is_kept_and_the_rest_counted() {
        let (mut capture, sink) = OutputPipe::new(4).expect("a pipe");
        capture.take().expect("an empty pipe is no error");
        rustix::io::write(&sink, b"ab\xff").expect("room");
        capture.take().expect("read");
        rustix::io::write(&sink, b"cdefg").expect("room");
        capture.take_rest().expect("read");
        capture.take_rest().expect("nothing there");
        assert_eq!((capture.text().as_str(), capture.total()), ("ab\u{fffd}c", 8));
        assert!(capture.source().is_some());
        drop(sink);
        capture.take().expect("read");
        assert!(capture.source().is_none());
    }
}
