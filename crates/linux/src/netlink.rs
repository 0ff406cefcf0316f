//! The kernel's audit interface: messages over a netlink socket (`linux/audit.h`).

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::netlink::{self, SocketAddrNetlink};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, sendto, socket_with,
    sockopt,
};

/// A refusal, or with number 0 the acknowledgement of a request.
const ERROR: u16 = 2;
/// The end of an answer of many messages.
const DONE: u16 = 3;
/// Requests the status, and carries it.
const GET: u16 = 1000;
/// Changes the status.
const SET: u16 = 1001;
/// Adds a rule.
const ADD_RULE: u16 = 1011;
/// Deletes a rule.
const DELETE_RULE: u16 = 1012;
/// Requests the rules, and carries one.
const LIST_RULES: u16 = 1013;
/// Drops watched directories that are no longer mounted.
const TRIM: u16 = 1014;
/// Extends a directory's rules to another directory.
const MAKE_EQUIVALENT: u16 = 1015;
/// Makes a record out of a process's own text, even while audit is off (`AUDIT_USER_AVC`).
const OWN_RECORD: u16 = 1107;
/// A record of a system call.
pub const SYSCALL: u16 = 1300;

const REQUEST: u16 = 1;
const ACKNOWLEDGE: u16 = 4;

/// Length (4 bytes), kind (2), flags (2), sequence number (4), sender (4).
const HEADER: usize = 16;
/// A record is at most 8970 bytes long.
const LONGEST: usize = 16 << 10;
/// How long the kernel may take to answer, by default.
const PATIENCE: Duration = Duration::from_secs(10);

/// The length of a rule (`struct audit_rule_data`) without its texts. Its last four bytes are the
/// length of the texts.
pub const RULE: usize = 1040;
/// The flag that adds a rule at the front of its list; the lowest byte of a rule's flags is its
/// first.
pub const IN_FRONT: u8 = 0x10;

// Bits of a status message's mask: which of the fields to change.
const MASK_ENABLED: u32 = 1;
const MASK_PID: u32 = 4;
const MASK_BACKLOG_LIMIT: u32 = 0x10;

/// What to change when audit is switched on.
pub struct Setting {
    /// The process to become the daemon, which must be the caller; `None` leaves it unchanged.
    pub daemon: Option<u32>,
    /// How many records the kernel may queue.
    pub backlog_limit: u32,
}

/// The state of the kernel's audit.
#[derive(Clone, Copy, Debug)]
pub struct Status {
    /// 0 off, 1 on, 2 on and locked.
    pub enabled: u32,
    /// The daemon's process id, or 0.
    pub daemon: u32,
    /// Records dropped since the kernel started.
    pub lost: u32,
    /// Records queued.
    pub backlog: u32,
}

/// A message from the kernel.
pub struct Message<'a> {
    /// Its kind.
    pub kind: u16,
    sequence: u32,
    /// The rest, without the header.
    pub payload: &'a [u8],
}

/// A socket to the kernel's audit.
pub struct Netlink {
    socket: OwnedFd,
    sequence: u32,
    buffer: Box<[u8]>,
    patience: Duration,
}

/// Requests fail with the kernel's error, or with `TimedOut`.
#[expect(clippy::missing_errors_doc, reason = "said once, for all of them")]
impl Netlink {
    /// Opens a socket with a kernel-side buffer of `buffer` bytes, if this process may request
    /// that.
    pub fn open(buffer: usize) -> io::Result<Self> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let family = AddressFamily::NETLINK;
        let socket = socket_with(family, SocketType::RAW, flags, Some(netlink::AUDIT))?;
        sockopt::set_socket_recv_buffer_size_force(&socket, buffer)?;
        Ok(Self { socket, sequence: 0, buffer: vec![0; LONGEST].into(), patience: PATIENCE })
    }

    /// The same socket with another time limit for the kernel's answers.
    #[must_use]
    pub fn patient_for(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Switches audit on.
    pub fn enable(&mut self, setting: &Setting) -> io::Result<()> {
        let pid = if setting.daemon.is_some() { MASK_PID } else { 0 };
        let mut words = [0_u32; 10];
        words[0] = MASK_ENABLED | MASK_BACKLOG_LIMIT | pid;
        words[1] = 1;
        words[3] = setting.daemon.unwrap_or(0);
        words[5] = setting.backlog_limit;
        self.set(words)
    }

    /// Makes the caller the daemon, or removes the daemon if `daemon` is 0; audit stays on or off.
    pub fn set_daemon(&mut self, daemon: u32) -> io::Result<()> {
        let mut words = [0_u32; 10];
        words[0] = MASK_PID;
        words[3] = daemon;
        self.set(words)
    }

    fn set(&mut self, words: [u32; 10]) -> io::Result<()> {
        let payload: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        self.request(SET, ACKNOWLEDGE, &payload).map(drop)
    }

    /// Has the kernel make a record of a text.
    pub fn record(&mut self, text: &[u8]) -> io::Result<()> {
        self.request(OWN_RECORD, ACKNOWLEDGE, text).map(drop)
    }

    /// The current state.
    pub fn status(&mut self) -> io::Result<Status> {
        let answers = self.request(GET, 0, &[])?;
        let words: Vec<u32> = answers
            .iter()
            .flat_map(|answer| answer.chunks_exact(4))
            .map(|word| u32::from_ne_bytes([word[0], word[1], word[2], word[3]]))
            .collect();
        match words[..] {
            [_mask, enabled, _failure, daemon, _rate, _limit, lost, backlog, ..] => {
                Ok(Status { enabled, daemon, lost, backlog })
            }
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// Adds a rule.
    pub fn add(&mut self, rule: &[u8]) -> io::Result<()> {
        self.request(ADD_RULE, ACKNOWLEDGE, rule).map(drop)
    }

    /// Deletes a rule, wherever in its list it was added: the kernel does not remember that.
    pub fn delete(&mut self, rule: &[u8]) -> io::Result<()> {
        let mut rule = rule.to_vec();
        if let Some(flags) = rule.first_mut() {
            *flags &= !IN_FRONT;
        }
        self.request(DELETE_RULE, ACKNOWLEDGE, &rule).map(drop)
    }

    /// The loaded rules, in order.
    pub fn list(&mut self) -> io::Result<Vec<Vec<u8>>> {
        let listed = self.request(LIST_RULES, 0, &[])?;
        Ok(listed.iter().map(|rule| whole(rule).to_vec()).collect())
    }

    /// Makes the kernel release watched directories that are no longer mounted.
    pub fn trim(&mut self) -> io::Result<()> {
        self.request(TRIM, ACKNOWLEDGE, &[]).map(drop)
    }

    /// Extends the rules for directory `old` to everything below `new`.
    pub fn make_equivalent(&mut self, old: &str, new: &str) -> io::Result<()> {
        let mut payload = Vec::new();
        for text in [old, new] {
            let length = u32::try_from(text.len()).map_err(io::Error::other)?;
            payload.extend(length.to_ne_bytes());
        }
        payload.extend(old.bytes().chain(new.bytes()));
        self.request(MAKE_EQUIVALENT, ACKNOWLEDGE, &payload).map(drop)
    }

    /// Sends a request and collects the answers.
    fn request(&mut self, kind: u16, flags: u16, payload: &[u8]) -> io::Result<Vec<Vec<u8>>> {
        self.send(kind, flags | REQUEST, payload)?;
        let own = self.sequence;
        let mut answers = Vec::new();
        while self.wait(self.patience)? {
            // Records may arrive in between; they are older than the answer.
            let Some(message) = self.receive()?.filter(|message| message.sequence == own) else {
                continue;
            };
            match message.kind {
                ERROR => return check(message.payload).map(|()| answers),
                DONE => return Ok(answers),
                kind => {
                    answers.push(message.payload.to_vec());
                    if kind == GET {
                        return Ok(answers);
                    }
                }
            }
        }
        Err(io::ErrorKind::TimedOut.into())
    }

    fn send(&mut self, kind: u16, flags: u16, payload: &[u8]) -> io::Result<()> {
        self.sequence += 1;
        let length = u32::try_from(HEADER + payload.len()).map_err(io::Error::other)?;
        let mut message = Vec::with_capacity(HEADER + payload.len());
        message.extend(length.to_ne_bytes());
        message.extend(kind.to_ne_bytes());
        message.extend(flags.to_ne_bytes());
        message.extend(self.sequence.to_ne_bytes());
        message.extend([0; 4]);
        message.extend(payload);
        let kernel = SocketAddrNetlink::new(0, 0);
        sendto(&self.socket, &message, SendFlags::empty(), &kernel)?;
        Ok(())
    }

    /// The next message, or `None` if there is none.
    ///
    /// Each is a datagram of its own. Use the datagram's length: a record's header counts its
    /// payload only.
    pub fn receive(&mut self) -> io::Result<Option<Message<'_>>> {
        let length = match recv(&self.socket, &mut self.buffer[..], RecvFlags::empty()) {
            Ok((length, _)) => length,
            Err(Errno::AGAIN | Errno::INTR) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let datagram = &self.buffer[..length];
        let Some((header, payload)) = datagram.split_first_chunk::<HEADER>() else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        let kind = u16::from_ne_bytes([header[4], header[5]]);
        let sequence = u32::from_ne_bytes([header[8], header[9], header[10], header[11]]);
        Ok(Some(Message { kind, sequence, payload }))
    }

    /// Waits for a message, with a time limit; returns whether there is or may be one.
    pub fn wait(&self, most: Duration) -> io::Result<bool> {
        let most = Timespec::try_from(most).map_err(io::Error::other)?;
        let mut sockets = [PollFd::new(&self.socket, PollFlags::IN)];
        match poll(&mut sockets, Some(&most)) {
            Ok(ready) => Ok(ready > 0),
            Err(Errno::INTR) => Ok(true), // the caller finds none, and waits again
            Err(error) => Err(error.into()),
        }
    }
}

impl AsFd for Netlink {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Reads an acknowledgement: a negative error number, or 0.
fn check(payload: &[u8]) -> io::Result<()> {
    match payload.first_chunk().map(|&number| i32::from_ne_bytes(number)) {
        Some(0) => Ok(()),
        Some(number) => Err(io::Error::from_raw_os_error(-number)),
        None => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// A rule without the padding that follows it in its message.
fn whole(bytes: &[u8]) -> &[u8] {
    let texts = bytes.get(RULE - 4..RULE).and_then(<[u8]>::first_chunk).copied();
    let length = texts.map_or(0, u32::from_ne_bytes) as usize;
    &bytes[..bytes.len().min(RULE + length)]
}

#[cfg(test)]
mod tests {
    use super::{RULE, check, whole};

    #[test]
    fn a_rule_ends_with_its_texts() {
        let mut rule = vec![0; RULE + 8];
        rule[RULE - 4] = 5;
        assert_eq!(whole(&rule).len(), RULE + 5);
        rule[RULE - 4] = 9;
        assert_eq!(whole(&rule).len(), RULE + 8, "no more than there is");
        assert_eq!(whole(&rule[..7]).len(), 7);
    }

    #[test]
    fn an_acknowledgement_bears_a_negative_error_number() {
        assert!(check(&0_i32.to_ne_bytes()).is_ok());
        let error = check(&(-libc::EPERM).to_ne_bytes()).expect_err("refused");
        assert_eq!(error.raw_os_error(), Some(libc::EPERM));
        assert!(check(&[]).is_err());
    }
}
