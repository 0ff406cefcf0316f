//! Audit's settings, read and set all at once, over a socket that nothing else uses.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use hardcost_linux::netlink::Netlink;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{SendFlags, sendto};

/// A refusal, or with number 0 the acknowledgement of a request.
const ERROR: u16 = 2;
/// Requests the status, and carries it.
const GET: u16 = 1000;
/// Sets the status.
const SET: u16 = 1001;
const REQUEST: u16 = 1;
const ACKNOWLEDGE: u16 = 4;
/// Length (4 bytes), kind (2), flags (2), sequence number (4), sender (4).
const HEADER: usize = 16;
/// Bits of a status message's mask, for its fields to change: enabled, failure, rate limit, backlog
/// limit, backlog wait time.
const MASK: u32 = 1 | 2 | 8 | 0x10 | 0x20;
const PATIENCE: Duration = Duration::from_secs(10);

/// What can be set of the kernel's audit, except for its daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditSettings {
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

impl AuditSettings {
    /// Reads the current settings.
    pub fn read(audit: &mut Netlink) -> io::Result<Self> {
        let status = request(audit, GET, REQUEST, &[])?;
        let words: Vec<u32> = status
            .chunks_exact(4)
            .map(|word| u32::from_ne_bytes([word[0], word[1], word[2], word[3]]))
            .collect();
        match words[..] {
            [_, enabled, failure, _, rate_limit, backlog_limit, _, _, _, backlog_wait_time, ..] => {
                Ok(Self { enabled, failure, rate_limit, backlog_limit, backlog_wait_time })
            }
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// Sets all settings.
    pub fn put(&self, audit: &mut Netlink) -> io::Result<()> {
        let mut words = [0_u32; 10];
        words[0] = MASK;
        words[1] = self.enabled;
        words[2] = self.failure;
        words[4] = self.rate_limit;
        words[5] = self.backlog_limit;
        words[9] = self.backlog_wait_time;
        let payload: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        request(audit, SET, REQUEST | ACKNOWLEDGE, &payload).map(drop)
    }
}

/// Sends a request. Returns the status in the answer; nothing if it is only acknowledged.
fn request(audit: &mut Netlink, kind: u16, flags: u16, payload: &[u8]) -> io::Result<Vec<u8>> {
    let length = u32::try_from(HEADER + payload.len()).map_err(io::Error::other)?;
    let mut message = length.to_ne_bytes().to_vec();
    message.extend(kind.to_ne_bytes());
    message.extend(flags.to_ne_bytes());
    message.extend([0; 8]);
    message.extend(payload);
    sendto(audit.as_fd(), &message, SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
    while audit.wait(PATIENCE)? {
        let Some(answer) = audit.receive()? else { continue };
        match (answer.kind, answer.payload.first_chunk().map(|&word| i32::from_ne_bytes(word))) {
            (ERROR, Some(0)) => return Ok(Vec::new()),
            (ERROR, Some(number)) => return Err(io::Error::from_raw_os_error(-number)),
            (GET, _) => return Ok(answer.payload.to_vec()),
            _ => {}
        }
    }
    Err(io::ErrorKind::TimedOut.into())
}
