//! The kernel's audit interface: messages over a netlink socket (`linux/audit.h`).

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::netlink::{self, SocketAddrNetlink};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, sendto, socket_with,
    sockopt,
};

use crate::rule;

const ERROR: u16 = 2;
const DONE: u16 = 3;
const GET: u16 = 1000;
const SET: u16 = 1001;
const ADD_RULE: u16 = 1011;
const DELETE_RULE: u16 = 1012;
const LIST_RULES: u16 = 1013;
const TRIM: u16 = 1014;
const MAKE_EQUIVALENT: u16 = 1015;
/// A record of a system call.
pub const SYSCALL: u16 = 1300;

const REQUEST: u16 = 1;
const ACKNOWLEDGE: u16 = 4;
const HEADER: usize = 16;
const LONGEST: usize = 16 << 10;
/// How long the kernel may take to answer: waiting for readers is slow with all checkers on.
const TIME_LIMIT: Duration = Duration::from_secs(300);
const ROOM: usize = 64 << 20;
const BACKLOG: u32 = 1 << 17;

// Bits of a status message's mask: which of the fields to change.
const MASK_ENABLED: u32 = 1;
const MASK_PID: u32 = 4;
const MASK_BACKLOG_LIMIT: u32 = 0x10;

/// In a rule's flags, whose lowest byte comes first.
pub const IN_FRONT: u8 = 0x10;

/// A socket to the kernel's audit.
pub struct Netlink {
    socket: OwnedFd,
    sequence: u32,
    buffer: Box<[u8]>,
}

/// A message from the kernel.
pub struct Message<'a> {
    pub kind: u16,
    sequence: u32,
    pub payload: &'a [u8],
}

impl Netlink {
    pub fn open() -> io::Result<Self> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket =
            socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, Some(netlink::AUDIT))?;
        sockopt::set_socket_recv_buffer_size_force(&socket, ROOM)?;
        Ok(Self { socket, sequence: 0, buffer: vec![0; LONGEST].into() })
    }

    /// Turns audit on with this process, and this socket, as the daemon.
    pub fn become_daemon(&mut self) -> io::Result<()> {
        let mut words = [0_u32; 10];
        words[0] = MASK_ENABLED | MASK_BACKLOG_LIMIT | MASK_PID;
        words[1] = 1;
        words[3] = std::process::id();
        words[5] = BACKLOG;
        let payload: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        self.request(SET, ACKNOWLEDGE, &payload).map(drop)
    }

    /// How many records were lost since the start.
    pub fn lost(&mut self) -> io::Result<u32> {
        let answers = self.request(GET, 0, &[])?;
        let word = answers.first().and_then(|answer| answer.get(24..28)?.first_chunk().copied());
        word.map(u32::from_ne_bytes).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    pub fn add(&mut self, rule: &[u8]) -> io::Result<()> {
        self.request(ADD_RULE, ACKNOWLEDGE, rule).map(drop)
    }

    /// Deletes a rule, wherever in its list it was added: the kernel forgets that.
    pub fn delete(&mut self, rule: &[u8]) -> io::Result<()> {
        let mut rule = rule.to_vec();
        rule[0] &= !IN_FRONT;
        self.request(DELETE_RULE, ACKNOWLEDGE, &rule).map(drop)
    }

    /// The rules that are loaded, in their order.
    pub fn list(&mut self) -> io::Result<Vec<Vec<u8>>> {
        let listed = self.request(LIST_RULES, 0, &[])?;
        // Messages are filled up to whole words.
        Ok(listed.iter().map(|rule| rule::whole(rule).to_vec()).collect())
    }

    /// Has the kernel let go of what is no longer mounted below watched directories.
    pub fn trim(&mut self) -> io::Result<()> {
        self.request(TRIM, ACKNOWLEDGE, &[]).map(drop)
    }

    /// Has the rules for directory `old` hold for what lies below `new` too.
    pub fn make_equivalent(&mut self, old: &str, new: &str) -> io::Result<()> {
        let mut payload = Vec::new();
        for text in [old, new] {
            let length = u32::try_from(text.len()).map_err(io::Error::other)?;
            payload.extend(length.to_ne_bytes());
        }
        payload.extend(old.bytes().chain(new.bytes()));
        self.request(MAKE_EQUIVALENT, ACKNOWLEDGE, &payload).map(drop)
    }

    fn request(&mut self, kind: u16, flags: u16, payload: &[u8]) -> io::Result<Vec<Vec<u8>>> {
        self.send(kind, flags | REQUEST, payload)?;
        let own = self.sequence;
        let mut answers = Vec::new();
        while self.wait(TIME_LIMIT)? {
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

    /// The next message, or `None` if none is there.
    pub fn receive(&mut self) -> io::Result<Option<Message<'_>>> {
        let length = match recv(&self.socket, &mut self.buffer[..], RecvFlags::empty()) {
            Ok((length, _)) => length,
            Err(Errno::AGAIN | Errno::INTR) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let Some((header, payload)) = self.buffer[..length].split_first_chunk::<HEADER>() else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        let kind = u16::from_ne_bytes([header[4], header[5]]);
        let sequence = u32::from_ne_bytes([header[8], header[9], header[10], header[11]]);
        Ok(Some(Message { kind, sequence, payload }))
    }

    /// Waits for a message, at most so long; whether there is one.
    pub fn wait(&self, most: Duration) -> io::Result<bool> {
        let most = Timespec::try_from(most).map_err(io::Error::other)?;
        let mut sockets = [PollFd::new(&self.socket, PollFlags::IN)];
        match poll(&mut sockets, Some(&most)) {
            Ok(ready) => Ok(ready > 0),
            Err(Errno::INTR) => Ok(true),
            Err(error) => Err(error.into()),
        }
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
