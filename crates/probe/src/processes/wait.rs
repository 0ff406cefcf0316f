//! All waiting of the probe: for one thing, while it serves everything in the
//! background.

use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::error::{Context, Error, Result};
use crate::processes::job_timeout;

/// A time on the clock `CLOCK_MONOTONIC`, or none.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    then: Option<Instant>,
    /// How many seconds away it was when it was set; 0 without a time.
    pub seconds: f64,
}

impl Deadline {
    /// No time of its own: only the job's limit ends the wait.
    pub const NEVER: Self = Self { then: None, seconds: 0.0 };

    /// So many seconds from now. A negative or infinite number is refused.
    pub fn after(seconds: f64) -> Result<Self> {
        let length = Duration::try_from_secs_f64(seconds).ok();
        let then = length.and_then(|length| Instant::now().checked_add(length));
        match then {
            Some(then) => Ok(Self { then: Some(then), seconds }),
            None => Err(Error::Other(format!("{seconds} s is no limit"))),
        }
    }

    /// So many seconds from now, where there is a limit.
    pub fn within(limit: Option<f64>) -> Result<Self> {
        limit.map_or(Ok(Self::NEVER), Self::after)
    }

    /// The earlier of this and that long from now.
    pub fn or_in(self, length: Duration) -> Self {
        let then = Instant::now().checked_add(length);
        Self { then: self.then.into_iter().chain(then).min(), ..self }
    }

    /// The time left; `None`: no end.
    fn left(self) -> Option<Duration> {
        self.then.map(|then| then.saturating_duration_since(Instant::now()))
    }

    /// Whether it is over.
    pub fn is_over(self) -> bool {
        self.left().is_some_and(|left| left.is_zero())
    }
}

/// What to wait for: a descriptor, to be read or written.
pub type PollTarget<'a> = (BorrowedFd<'a>, PollFlags);

/// What needs attention while the probe waits for something else.
pub trait BackgroundSource {
    /// The descriptors to wake up for.
    fn sources(&self) -> Vec<BorrowedFd<'_>>;

    /// Handles what has come; does not wait.
    ///
    /// # Errors
    ///
    /// Something failed that ends the wait, such as a service that died.
    fn take(&mut self) -> Result<()>;
}

/// Waits until one of `targets` is ready, and returns which are; none: the deadline is over.
/// Meanwhile serves the background. The end of the job's own time is an error.
pub fn wait(
    targets: &[PollTarget<'_>],
    background: &mut dyn BackgroundSource,
    deadline: Deadline,
) -> Result<Vec<bool>> {
    loop {
        job_timeout::check()?;
        let is_over = deadline.is_over();
        let (ready, others) = poll_all(targets, &background.sources(), deadline.left())?;
        if others {
            background.take()?;
        }
        if is_over || ready.contains(&true) {
            return Ok(ready);
        }
    }
}

/// Waits for any descriptor. Returns which of `targets` are ready, and whether any other is.
#[expect(clippy::disallowed_methods, reason = "this is where the probe waits")]
fn poll_all(
    targets: &[PollTarget<'_>],
    others: &[BorrowedFd<'_>],
    most: Option<Duration>,
) -> Result<(Vec<bool>, bool)> {
    let forever = Timespec { tv_sec: i64::MAX, tv_nsec: 0 };
    let most = most.map(|most| Timespec::try_from(most).unwrap_or(forever));
    let others = others.iter().map(|&fd| (fd, PollFlags::IN));
    let mut all: Vec<PollFd<'_>> = targets
        .iter()
        .copied()
        .chain(others)
        .map(|(fd, flags)| PollFd::from_borrowed_fd(fd, flags))
        .collect();
    match poll(&mut all, most.as_ref()) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(error).context(|| "waiting".into()),
    }
    let mut ready: Vec<bool> = all.iter().map(|fd| !fd.revents().is_empty()).collect();
    let others = ready.split_off(targets.len()).contains(&true);
    Ok((ready, others))
}

#[cfg(test)]
mod tests {
    use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

    use rustix::event::PollFlags;
    use rustix::pipe::pipe;

    use super::{BackgroundSource, Deadline, wait};
    use crate::error::Result;

    /// A source that always has more.
    struct Endless {
        source: OwnedFd,
        sink: OwnedFd,
        taken: usize,
    }

    impl BackgroundSource for Endless {
        fn sources(&self) -> Vec<BorrowedFd<'_>> {
            vec![self.source.as_fd()]
        }

        fn take(&mut self) -> Result<()> {
            let mut portion = [0; 2];
            self.taken += rustix::io::read(&self.source, &mut portion).expect("read");
            rustix::io::write(&self.sink, b"ab").expect("room");
            Ok(())
        }
    }

    #[test]
    fn what_writes_without_end_is_taken_and_keeps_no_deadline_and_nothing_wanted() {
        let (source, sink) = pipe().expect("a pipe");
        rustix::io::write(&sink, b"ab").expect("room");
        let mut endless = Endless { source, sink, taken: 0 };
        let soon = Deadline::after(0.05).expect("a length");
        assert!(wait(&[], &mut endless, soon).expect("waited").is_empty());
        assert!(soon.is_over() && endless.taken > 2);
        let (wanted, other) = pipe().expect("a pipe");
        rustix::io::write(&other, b"x").expect("room");
        let ready = wait(&[(wanted.as_fd(), PollFlags::IN)], &mut endless, Deadline::NEVER);
        assert_eq!(ready.expect("waited"), [true]);
    }

    #[test]
    fn without_an_end_nothing_is_over_and_an_earlier_one_holds() {
        assert!(!Deadline::NEVER.is_over());
        assert!(Deadline::NEVER.or_in(std::time::Duration::ZERO).is_over());
        assert!(Deadline::after(-1.0).is_err() && Deadline::within(Some(f64::NAN)).is_err());
        assert!(!Deadline::within(None).expect("none").is_over());
    }
}
