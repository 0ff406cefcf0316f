//! What a program prints on both of its outputs, taken while its end is waited for.

use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::event::PollFlags;

use crate::capture::Capture;
use crate::error::{Context, Result};
use crate::wait::{Beside, Deadline, wait};

/// How much of each output of a program to report, in bytes.
pub const OUTPUT_LIMIT: usize = 64 << 10;

/// What a program prints.
pub struct Outputs {
    /// On its standard output.
    pub stdout: Capture,
    /// On its standard error.
    pub stderr: Capture,
}

/// What woke the probe; nothing: it is over.
#[derive(Clone, Copy, Debug, Default)]
pub struct Woken {
    /// The descriptor that was waited for besides.
    pub other: bool,
    /// The program's end; it is not reaped yet.
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
    /// Captures that keep at most `limit` bytes each, and the ends to give to the program.
    pub fn new(limit: usize) -> Result<(Self, (OwnedFd, OwnedFd))> {
        let capture = || Capture::new(limit).context(|| "a pipe".into());
        let ((stdout, out), (stderr, err)) = (capture()?, capture()?);
        Ok((Self { stdout, stderr }, (out, err)))
    }

    /// Waits until the program has `ended` or `other` is readable. Meanwhile takes what the program
    /// prints, and looks after what goes on beside it.
    pub fn wait(
        &mut self,
        ended: BorrowedFd<'_>,
        other: Option<BorrowedFd<'_>>,
        beside: &mut dyn Beside,
        deadline: Deadline,
    ) -> Result<Woken> {
        loop {
            let all = [
                (Source::Other, other),
                (Source::End, Some(ended)),
                (Source::Stdout, self.stdout.source()),
                (Source::Stderr, self.stderr.source()),
            ];
            let (sources, wanted): (Vec<_>, Vec<_>) =
                all.iter().filter_map(|&(which, fd)| Some((which, (fd?, PollFlags::IN)))).unzip();
            let ready = wait(&wanted, beside, deadline)?;
            let mut woken = Woken::default();
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

    /// Takes what was left in them. Those who inherited them may hold them open.
    pub fn take_rest(&mut self) -> Result<()> {
        let rest = self.stdout.take_rest().and_then(|()| self.stderr.take_rest());
        rest.context(reading)
    }
}

fn reading() -> String {
    "reading a program's output".into()
}
