//! The recorder `audit`: the length of the kernel's queue of audit records, and how many were lost.
//!
//! The state is requested by netlink at the begin, and then read in the kernel's memory. A process
//! that requests it while the queue is full is made to sleep, and may take another's wake-up.

use crate::protocol::AuditSeen;
use crate::recorders::time_series::{self, steps};
use hardcost_linux::kcore::{Kcore, addresses};
use hardcost_linux::netlink::{Netlink, Status};

/// The offset of a packet queue's length (`struct sk_buff_head`): behind two pointers.
const LENGTH: u64 = 16;
/// The size of the socket's receive buffer, in bytes.
const BUFFER: usize = 64 << 10;

/// The queue over time.
pub struct AuditQueueRecorder {
    place: QueueAddresses,
    start: Status,
    last: Status,
    peak: u32,
    lost: Vec<u64>,
    backlog: Vec<u64>,
}

/// The addresses of both numbers in the kernel's memory.
struct QueueAddresses {
    memory: Kcore,
    lost: u64,
    backlog: u64,
}

impl QueueAddresses {
    /// Finds the addresses; `None` if the kernel's memory can't be read.
    fn find() -> Option<Self> {
        let [lost, queue] = addresses(["audit_lost", "audit_queue"])?;
        Some(Self { memory: Kcore::open()?, lost, backlog: queue + LENGTH })
    }

    /// Records lost, and records queued.
    fn read(&self) -> Option<(u32, u32)> {
        Some((self.memory.word(self.lost)?, self.memory.word(self.backlog)?))
    }
}

impl AuditQueueRecorder {
    /// Begins; `None` if the kernel has no audit, or does not allow this.
    pub fn begin() -> Option<Self> {
        let start = Netlink::open(BUFFER).ok()?.status().ok()?;
        let place = QueueAddresses::find()?;
        // If they differ, the memory is not understood.
        place.read().filter(|&(lost, _)| lost == start.lost)?;
        let (lost, backlog) = (Vec::new(), Vec::new());
        Some(Self { place, start, last: start, peak: start.backlog, lost, backlog })
    }

    /// Takes a row.
    pub fn take(&mut self) {
        self.look();
        self.lost.push(self.last.lost.into());
        self.backlog.push(self.last.backlog.into());
    }

    fn look(&mut self) {
        if let Some((lost, backlog)) = self.place.read() {
            self.last = Status { lost, backlog, ..self.last };
            self.peak = self.peak.max(backlog);
        }
    }

    /// Keeps every other row.
    pub fn thin(&mut self) {
        time_series::thin(&mut self.lost);
        time_series::thin(&mut self.backlog);
    }

    /// Everything recorded.
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
