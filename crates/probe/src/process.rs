//! A running program whose output is taken, and the one place where the probe waits.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::{Child, Command, ExitStatus};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::audit::Audit;
use crate::capture::Capture;

/// A program started by the probe.
pub struct Process {
    child: Child,
    /// Readable once the program has ended.
    ended: OwnedFd,
    /// What it prints.
    pub stdout: Capture,
    /// What it complains about.
    pub stderr: Capture,
}

/// What woke the probe.
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
    Audit,
}

impl Process {
    /// Starts a program, keeping at most `limit` bytes of each of its outputs.
    ///
    /// It gets no environment but `PATH`.
    pub fn start(mut command: Command, limit: usize) -> io::Result<Self> {
        let (stdout, stdout_sink) = Capture::new(limit)?;
        let (stderr, stderr_sink) = Capture::new(limit)?;
        command
            .env_clear()
            .env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        let child = command.stdout(stdout_sink).stderr(stderr_sink).spawn()?;
        // The command holds the outputs' other ends, which must close when the program ends.
        drop(command);
        let pid = Pid::from_child(&child);
        Ok(Self { child, ended: pidfd_open(pid, PidfdFlags::empty())?, stdout, stderr })
    }

    /// Waits until the program has ended or `other` is readable. Meanwhile takes the program's
    /// output and, as the audit daemon that it is, the kernel's records.
    pub fn wait(
        &mut self,
        other: Option<BorrowedFd<'_>>,
        mut audit: Option<&mut Audit>,
    ) -> io::Result<Woken> {
        let mut woken = Woken::default();
        while !woken.other && !woken.ended {
            for source in self.poll(other, audit.as_deref())? {
                match source {
                    Source::Other => woken.other = true,
                    Source::End => woken.ended = true,
                    Source::Stdout => self.stdout.take()?,
                    Source::Stderr => self.stderr.take()?,
                    Source::Audit => audit.iter_mut().try_for_each(|audit| audit.take())?,
                }
            }
        }
        Ok(woken)
    }

    /// Waits for anything and returns what it was.
    fn poll(
        &self,
        other: Option<BorrowedFd<'_>>,
        audit: Option<&Audit>,
    ) -> io::Result<Vec<Source>> {
        let wanted = [
            (Source::Other, other),
            (Source::End, Some(self.ended.as_fd())),
            (Source::Stdout, self.stdout.source()),
            (Source::Stderr, self.stderr.source()),
            (Source::Audit, audit.map(AsFd::as_fd)),
        ];
        let wanted = wanted.iter().filter_map(|&(source, descriptor)| Some((source, descriptor?)));
        let (sources, mut descriptors): (Vec<_>, Vec<_>) = wanted
            .map(|(source, fd)| (source, PollFd::from_borrowed_fd(fd, PollFlags::IN)))
            .unzip();
        match poll(&mut descriptors, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let ready =
            sources.into_iter().zip(descriptors).filter(|(_, polled)| !polled.revents().is_empty());
        Ok(ready.map(|(source, _)| source).collect())
    }

    /// Waits for nothing but the program's end, and reaps it.
    pub fn reap(&mut self) -> io::Result<ExitStatus> {
        self.child.wait()
    }

    /// Takes what the program left in its outputs. Those who inherited them may hold them open.
    pub fn take_rest(&mut self) -> io::Result<()> {
        self.stdout.take_rest()?;
        self.stderr.take_rest()
    }
}
