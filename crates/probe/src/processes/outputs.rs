//! Both outputs of a program, read while its end is waited for.

use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::event::PollFlags;

use crate::error::{Context, Result};
use crate::processes::output_pipe::OutputPipe;
use crate::processes::wait::{BackgroundSource, Deadline, wait};

/// How many bytes of each output to report.
pub const OUTPUT_LIMIT: usize = 64 << 10;

/// A program's outputs.
pub struct Outputs {
    /// On its standard output.
    pub stdout: OutputPipe,
    /// On its standard error.
    pub stderr: OutputPipe,
}

/// What ended a wait; nothing: the deadline is over.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wakeup {
    /// The other descriptor.
    pub other: bool,
    /// The program's end. It is not reaped yet.
    pub ended: bool,
}

/// What to wait for.
#[derive(Clone, Copy)]
enum Source {
    Other,
    End,
    Stdout,
    Stderr,
}

impl Outputs {
    /// Pipes that keep at most `limit` bytes each, and their ends for the program.
    pub fn new(limit: usize) -> Result<(Self, (OwnedFd, OwnedFd))> {
        let capture = || OutputPipe::new(limit).context(|| "a pipe".into());
        let ((stdout, out), (stderr, err)) = (capture()?, capture()?);
        Ok((Self { stdout, stderr }, (out, err)))
    }

    /// Waits until the program has `ended` or `other` is readable. Meanwhile reads the program's
    /// outputs, and serves the background.
    pub fn wait(
        &mut self,
        ended: BorrowedFd<'_>,
        other: Option<BorrowedFd<'_>>,
        background: &mut dyn BackgroundSource,
        deadline: Deadline,
    ) -> Result<Wakeup> {
        loop {
            let all = [
                (Source::Other, other),
                (Source::End, Some(ended)),
                (Source::Stdout, self.stdout.source()),
                (Source::Stderr, self.stderr.source()),
            ];
            let (sources, wanted): (Vec<_>, Vec<_>) =
                all.iter().filter_map(|&(which, fd)| Some((which, (fd?, PollFlags::IN)))).unzip();
            let ready = wait(&wanted, background, deadline)?;
            let mut woken = Wakeup::default();
            let mut is_over = true;
            for (source, _) in sources.into_iter().zip(ready).filter(|&(_, is_ready)| is_ready) {
                is_over = false;
                match source {
                    Source::Other => woken.other = true,
                    Source::End => woken.ended = true,
                    Source::Stdout => self.stdout.take().context(reading)?,
                    Source::Stderr => self.stderr.take().context(reading)?,
                }
            }
            if is_over || woken.other || woken.ended {
                return Ok(woken);
            }
        }
    }

    /// Reads what is left. Descendants may still hold the pipes open.
    pub fn take_rest(&mut self) -> Result<()> {
        let rest = self.stdout.take_rest().and_then(|()| self.stderr.take_rest());
        rest.context(reading)
    }
}

fn reading() -> String {
    "reading a program's output".into()
}
