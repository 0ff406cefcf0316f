//! The audit daemon: takes the kernel's records, and counts those of the measured process.
//!
//! No record may wait while the probe waits: a full queue would delay what is measured.
//!
//! This file has the daemon itself. `auditctl.rs` loads rules, by which file, and what becomes of
//! an auditctl that does not end (after ten minutes). `record_counts.rs` decides which records
//! count, and by which key. `serial_numbers.rs` keeps the serial numbers of records equally long.
//! The connection to the kernel, and when no more records are to come, are in
//! `crates/linux/src/audit_daemon.rs`; the default backlog limit is in `protocol/requests.rs`.

mod auditctl;
mod record_counts;
mod serial_numbers;

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use hardcost_linux::audit_daemon::{Daemon, refusal_reason};

pub use self::auditctl::{AuditctlOutput, load};
use self::record_counts::RecordCounts;
pub use self::serial_numbers::use_up_short_serials;
use crate::error::{Context, Error, Result};
use crate::protocol::AuditCounts;

/// This process as the kernel's audit daemon.
///
/// The kernel makes no records of what its audit daemon does.
pub struct AuditDaemon {
    daemon: Daemon,
    counts: RecordCounts,
    lost_before: u32,
}

impl AuditDaemon {
    /// Opens the connection to the kernel; changes nothing yet.
    pub fn new() -> Result<Self> {
        let daemon = Daemon::open().map_err(explain)?;
        Ok(Self { daemon, counts: RecordCounts::default(), lost_before: 0 })
    }

    /// Turns audit on and becomes its daemon.
    pub fn enable(&mut self, backlog_limit: u32) -> Result<()> {
        self.daemon.enable(backlog_limit).map_err(explain)
    }

    /// How many rules are loaded.
    pub fn loaded(&mut self) -> Result<usize> {
        Ok(self.daemon.control.list().context(|| "listing audit rules".into())?.len())
    }

    /// Reads the records that have arrived; does not wait.
    pub fn take(&mut self) -> Result<()> {
        let Self { daemon, counts, .. } = self;
        let taken = daemon.take(|record| counts.take(record));
        taken.context(|| "taking audit records".into())
    }

    /// Starts counting the records of an audit session, once all earlier ones have arrived.
    pub fn begin(&mut self, session: Option<u32>) -> Result<()> {
        self.lost_before = self.settle()?;
        self.counts = RecordCounts::of(session);
        Ok(())
    }

    /// Ends counting, once all records have arrived.
    pub fn finish(&mut self) -> Result<AuditCounts> {
        let lost = self.settle()?.wrapping_sub(self.lost_before);
        let counts = std::mem::take(&mut self.counts);
        Ok(counts.into_answer(lost))
    }

    /// Waits until all records have arrived. Returns how many were lost since the kernel started.
    fn settle(&mut self) -> Result<u32> {
        let Self { daemon, counts, .. } = self;
        daemon.settle(|record| counts.take(record)).map_err(explain)
    }
}

impl AsFd for AuditDaemon {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.daemon.as_fd()
    }
}

/// Adds to the kernel's error what it means.
fn explain(source: io::Error) -> Error {
    Error::System { what: refusal_reason(&source).into(), source }
}
