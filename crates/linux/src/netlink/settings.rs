//! Audit's settings, read and put back all at once.

use std::io;

use super::{GET, Netlink};

// Bits of a status message's mask: which of the fields to change.
const MASK_ENABLED: u32 = 1;
const MASK_FAILURE: u32 = 2;
const MASK_RATE_LIMIT: u32 = 8;
const MASK_BACKLOG_LIMIT: u32 = 0x10;
const MASK_BACKLOG_WAIT_TIME: u32 = 0x20;

/// What can be set of the kernel's audit, but for its daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// 0 off, 1 on, 2 on and locked.
    pub enabled: u32,
    /// What a lost record does: 0 nothing, 1 a message, 2 a panic.
    pub failure: u32,
    /// How many records a second the kernel makes at most; 0: any number.
    pub rate_limit: u32,
    /// How many records the kernel may queue.
    pub backlog_limit: u32,
    /// How long a process waits for room in the queue, in the kernel's ticks.
    pub backlog_wait_time: u32,
}

/// Requests fail with the kernel's error, or with `TimedOut`.
#[expect(clippy::missing_errors_doc, reason = "said once, for all of them")]
impl Settings {
    /// The settings as they are.
    pub fn read(audit: &mut Netlink) -> io::Result<Self> {
        let answers = audit.request(GET, 0, &[])?;
        let words = answers.iter().flat_map(|answer| answer.chunks_exact(4));
        let words: Vec<u32> =
            words.map(|word| u32::from_ne_bytes([word[0], word[1], word[2], word[3]])).collect();
        match words[..] {
            [_, enabled, failure, _, rate_limit, backlog_limit, _, _, _, backlog_wait_time, ..] => {
                Ok(Self { enabled, failure, rate_limit, backlog_limit, backlog_wait_time })
            }
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// Makes the settings these.
    pub fn put(&self, audit: &mut Netlink) -> io::Result<()> {
        let mut words = [0_u32; 10];
        let limits = MASK_RATE_LIMIT | MASK_BACKLOG_LIMIT | MASK_BACKLOG_WAIT_TIME;
        words[0] = MASK_ENABLED | MASK_FAILURE | limits;
        words[1] = self.enabled;
        words[2] = self.failure;
        words[4] = self.rate_limit;
        words[5] = self.backlog_limit;
        words[9] = self.backlog_wait_time;
        audit.set(words)
    }
}
