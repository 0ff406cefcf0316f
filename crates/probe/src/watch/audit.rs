//! The kernel's queue of audit records.

use serde::Serialize;

use super::rows::{self, steps};
use crate::audit::{Netlink, Status};

/// How many rows share a look: the kernel starts a thread for each of its answers.
const EVERY: usize = 5;
/// How much the kernel may have on the way to us, in bytes.
const BUFFER: usize = 64 << 10;

/// What was seen of the queue.
#[derive(Debug, Serialize)]
pub struct AuditSeen {
    /// Records lost from the beginning to the end.
    pub lost: u64,
    /// The most that were queued at any look.
    pub backlog_peak: u64,
    /// Records lost from row to row.
    pub lost_series: Vec<u64>,
    /// Records queued at each row, or at the last look before it.
    pub backlog_series: Vec<u64>,
}

/// The queue over time.
pub struct AuditWatch {
    kernel: Netlink,
    start: Status,
    last: Status,
    taken: usize,
    peak: u32,
    lost: Vec<u64>,
    backlog: Vec<u64>,
}

impl AuditWatch {
    /// Begins; `None` where the kernel has no audit, or does not tell us.
    pub fn begin() -> Option<Self> {
        let mut kernel = Netlink::open(BUFFER).ok()?;
        let start = kernel.status().ok()?;
        let (lost, backlog) = (Vec::new(), Vec::new());
        Some(Self { kernel, start, last: start, taken: 0, peak: start.backlog, lost, backlog })
    }

    /// Takes a row.
    pub fn take(&mut self) {
        self.taken += 1;
        if self.taken % EVERY == 0 {
            self.look();
        }
        self.lost.push(self.last.lost.into());
        self.backlog.push(self.last.backlog.into());
    }

    fn look(&mut self) {
        self.last = self.kernel.status().unwrap_or(self.last);
        self.peak = self.peak.max(self.last.backlog);
    }

    /// Keeps every other row.
    pub fn thin(&mut self) {
        rows::thin(&mut self.lost);
        rows::thin(&mut self.backlog);
    }

    /// All that was seen.
    pub fn end(mut self) -> AuditSeen {
        self.look();
        if let Some(lost) = self.lost.last_mut() {
            *lost = self.last.lost.into();
        }
        AuditSeen {
            lost: self.last.lost.wrapping_sub(self.start.lost).into(),
            backlog_peak: self.peak.into(),
            lost_series: steps(self.start.lost.into(), &self.lost),
            backlog_series: self.backlog,
        }
    }
}
