//! Waiting for one thing while looking after all others.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::services::Services;
use crate::audit::Audit;
use crate::error::{Context, Error, Result};

/// A point in time, on the clock `CLOCK_MONOTONIC`.
#[derive(Clone, Copy, Debug)]
pub struct Deadline(Instant);

impl Deadline {
    /// So many seconds from now; what is no length of time is refused.
    pub fn after(seconds: f64) -> Result<Self> {
        let length = Duration::try_from_secs_f64(seconds).ok();
        let then = length.and_then(|length| Instant::now().checked_add(length));
        then.map(Self).ok_or_else(|| Error::Other(format!("{seconds} s is no limit")))
    }

    /// The earlier of this and so long from now.
    pub fn or_in(self, length: Duration) -> Self {
        Self(Instant::now().checked_add(length).map_or(self.0, |then| then.min(self.0)))
    }

    /// What is left until then.
    pub fn left(self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }

    /// Whether it is over.
    pub fn is_over(self) -> bool {
        self.left().is_zero()
    }
}

/// Something to wait for: a descriptor, and whether to read or to write.
pub type Wanted<'a> = (BorrowedFd<'a>, PollFlags);

/// All that goes on beside what is waited for: records come to the audit daemon, services print
/// or die.
pub struct Company<'a> {
    /// The audit daemon.
    pub audit: Option<&'a mut Audit>,
    /// The services.
    pub services: &'a mut Services,
}

impl Company<'_> {
    /// Waits until one of `wanted` is ready, and says which are; none: it is over. Meanwhile takes
    /// what services print and, as the audit daemon, the kernel's records.
    ///
    /// # Errors
    ///
    /// A service died.
    pub fn wait(&mut self, wanted: &[Wanted<'_>], deadline: Deadline) -> Result<Vec<bool>> {
        loop {
            let over = deadline.is_over();
            let ready = self.poll(wanted, deadline.left())?;
            self.services.take();
            if let Some(audit) = &mut self.audit {
                audit.take().context(|| "taking audit records".into())?;
            }
            self.services.check()?;
            if over || ready.contains(&true) {
                return Ok(ready);
            }
        }
    }

    /// Waits for anything at all; which of `wanted` are ready.
    fn poll(&self, wanted: &[Wanted<'_>], most: Duration) -> Result<Vec<bool>> {
        let most = Timespec::try_from(most).unwrap_or(Timespec { tv_sec: i64::MAX, tv_nsec: 0 });
        let others = self.services.sources().chain(self.audit.as_deref().map(AsFd::as_fd));
        let others = others.map(|fd| (fd, PollFlags::IN));
        let mut all: Vec<PollFd<'_>> = wanted
            .iter()
            .copied()
            .chain(others)
            .map(|(fd, flags)| PollFd::from_borrowed_fd(fd, flags))
            .collect();
        match poll(&mut all, Some(&most)) {
            Ok(_) => Ok(all[..wanted.len()].iter().map(|fd| !fd.revents().is_empty()).collect()),
            Err(Errno::INTR) => Ok(vec![false; wanted.len()]),
            Err(error) => Err(error).context(|| "waiting".into()),
        }
    }
}
