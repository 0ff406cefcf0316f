//! What a program prints: the beginning kept, the rest counted.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::{Errno, ioctl_fionbio, ioctl_fionread, read};
use rustix::pipe::{PipeFlags, pipe_with};

/// How much to take from the pipe at a time, in bytes: as much as it holds.
const PORTION: usize = 64 << 10;

/// The reading end of a program's output.
pub struct Capture {
    source: Option<OwnedFd>,
    kept: Vec<u8>,
    limit: usize,
    total: u64,
}

impl Capture {
    /// A capture that keeps the first `limit` bytes, and the end to give to the program.
    pub fn new(limit: usize) -> io::Result<(Self, OwnedFd)> {
        let (source, sink) = pipe_with(PipeFlags::CLOEXEC)?;
        ioctl_fionbio(&source, true)?;
        Ok((Self { source: Some(source), kept: Vec::new(), limit, total: 0 }, sink))
    }

    /// What to wait for; `None` when all who could write have closed their end.
    pub fn source(&self) -> Option<BorrowedFd<'_>> {
        self.source.as_ref().map(AsFd::as_fd)
    }

    /// Takes what is there, a portion at most; does not wait.
    pub fn take(&mut self) -> io::Result<()> {
        self.take_up_to(PORTION)
    }

    /// Takes all that is there now. Others may go on writing: that is not waited for.
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

    /// The bytes kept, as text; what is no UTF-8 is replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.kept).into_owned()
    }

    /// How many bytes there were in all.
    pub fn total(&self) -> u64 {
        self.total
    }
}

#[cfg(test)]
mod tests {
    use super::Capture;

    #[test]
    fn the_beginning_is_kept_and_the_rest_counted() {
        let (mut capture, sink) = Capture::new(4).expect("a pipe");
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
