//! The kernel's queue of audit records.
//!
//! Its state is asked for by netlink at the beginning and read in the kernel's memory after that:
//! who asks while the queue is full is made to sleep, and may leave somebody else asleep in turn.

use super::rows::{self, steps};
use crate::protocol::AuditSeen;
use hardcost_linux::kcore::{Kcore, addresses};
use hardcost_linux::netlink::{Netlink, Status};

/// Where a queue of packets (`struct sk_buff_head`) keeps its length: behind two pointers.
const LENGTH: u64 = 16;
/// How much the kernel may have on the way to us, in bytes.
const BUFFER: usize = 64 << 10;

/// The queue over time.
pub struct AuditWatch {
    place: Place,
    start: Status,
    last: Status,
    peak: u32,
    lost: Vec<u64>,
    backlog: Vec<u64>,
}

/// Where the kernel keeps both numbers.
struct Place {
    memory: Kcore,
    lost: u64,
    backlog: u64,
}

impl Place {
    /// Finds it; `None` where the kernel does not let its memory be read.
    fn find() -> Option<Self> {
        let [lost, queue] = addresses(["audit_lost", "audit_queue"])?;
        Some(Self { memory: Kcore::open()?, lost, backlog: queue + LENGTH })
    }

    /// Records lost, and queued.
    fn read(&self) -> Option<(u32, u32)> {
        Some((self.memory.word(self.lost)?, self.memory.word(self.backlog)?))
    }
}

impl AuditWatch {
    /// Begins; `None` where the kernel has no audit, or does not tell us.
    pub fn begin() -> Option<Self> {
        let start = Netlink::open(BUFFER).ok()?.status().ok()?;
        let place = Place::find()?;
        // Or it is another kernel's memory that is understood here.
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
