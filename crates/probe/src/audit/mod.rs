//! The audit daemon: takes the kernel's records and counts those of the measured process.

mod auditctl;
mod counts;

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use hardcost_linux::daemon::{Daemon, refused};

pub use self::auditctl::{Said, load};
use self::counts::Counts;
use crate::error::{Context, Error, Result};
use crate::protocol::AuditCounts;

/// This process as the kernel's audit daemon.
///
/// The kernel makes no records of what its audit daemon does.
pub struct Audit {
    daemon: Daemon,
    counts: Counts,
    lost_before: u32,
}

impl Audit {
    /// Opens the connection to the kernel; changes nothing yet.
    pub fn new() -> Result<Self> {
        let daemon = Daemon::open().map_err(explain)?;
        Ok(Self { daemon, counts: Counts::default(), lost_before: 0 })
    }

    /// Turns audit on and becomes its daemon.
    pub fn enable(&mut self, backlog_limit: u32) -> Result<()> {
        self.daemon.enable(backlog_limit).map_err(explain)
    }

    /// How many rules are loaded.
    pub fn loaded(&mut self) -> Result<usize> {
        Ok(self.daemon.control.list().context(|| "listing audit rules".into())?.len())
    }

    /// Takes the records that have arrived; does not wait.
    pub fn take(&mut self) -> Result<()> {
        let Self { daemon, counts, .. } = self;
        let taken = daemon.take(|record| counts.take(record));
        taken.context(|| "taking audit records".into())
    }

    /// Starts to count the records of an audit session, once all before them have arrived.
    pub fn begin(&mut self, session: Option<u32>) -> Result<()> {
        self.lost_before = self.settle()?;
        self.counts = Counts::of(session);
        Ok(())
    }

    /// What was counted since `begin`, once all of it has arrived.
    pub fn finish(&mut self) -> Result<AuditCounts> {
        let lost = self.settle()?.wrapping_sub(self.lost_before);
        let counts = std::mem::take(&mut self.counts);
        Ok(counts.into_answer(lost))
    }

    /// Waits until no record is on its way; the number of records lost since the kernel started.
    fn settle(&mut self) -> Result<u32> {
        let Self { daemon, counts, .. } = self;
        daemon.settle(|record| counts.take(record)).map_err(explain)
    }
}

impl AsFd for Audit {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.daemon.as_fd()
    }
}

/// Says what the kernel's refusal means.
fn explain(source: io::Error) -> Error {
    Error::System { what: refused(&source).into(), source }
}
