//! How long threads had run when they ended, as the kernel reports it (`taskstats`).
//!
//! Sources: `linux/taskstats.h`, `linux/genetlink.h`, and the kernel's `accounting/taskstats.rst`.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;

use rustix::net::netlink::{self, SocketAddrNetlink};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, sendto, socket_with,
    sockopt,
};

/// Lets the kernel count how long each new thread runs.
const SWITCH: &str = "/proc/sys/kernel/task_delayacct";
const PROCESSORS: &str = "/sys/devices/system/cpu/possible";
/// The size of the socket's receive buffer, in bytes.
const BUFFER: usize = 16 << 20;

const REQUEST: u16 = 1;
const ERROR: u16 = 2;
/// Lengths of headers: of a message, of the generic family, of an attribute.
const MESSAGE: usize = 16;
const GENERIC: usize = 4;
const ATTRIBUTE: usize = 4;
/// The kernel's directory of families: its number, its command, and the attributes for id and name.
const CONTROLLER: u16 = 16;
const GET_FAMILY: u8 = 3;
const FAMILY_ID: u16 = 1;
const FAMILY_NAME: u16 = 2;
/// The family's command, and the attribute that names the processors to listen to.
const GET: u8 = 1;
const REGISTER: u16 = 3;
/// In an answer: the attribute of one thread, and in it that of the numbers.
const OF_THREAD: u16 = 4;
const NUMBERS: u16 = 3;
/// A sequence number; it is not compared.
const SEQUENCE: u32 = 1;

/// Offsets in the numbers of version 12 and later, in bytes.
const VERSION: u16 = 12;
const RUN: usize = 72;
const NAME: usize = 80;
const NAME_LENGTH: usize = 32;
const THREAD: usize = 128;
const PROCESS: usize = 368;

/// A thread that has ended.
#[derive(Debug, PartialEq, Eq)]
pub struct ThreadExit {
    /// The thread.
    pub thread: i32,
    /// The process that it belonged to.
    pub process: i32,
    /// Its last name.
    pub name: String,
    /// How long it ran, in nanoseconds; 0 if it is older than the recording.
    pub ran: u64,
}

/// A socket to which the kernel reports ends of threads.
pub struct Taskstats {
    socket: OwnedFd,
    buffer: Box<[u8]>,
    before: Option<String>,
}

impl Taskstats {
    /// Listens from now on; `None` if the kernel does not allow this.
    pub fn listen() -> Option<Self> {
        let processors = fs::read_to_string(PROCESSORS).ok()?;
        let flags = SocketFlags::CLOEXEC;
        let protocol = Some(netlink::GENERIC);
        let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, protocol).ok()?;
        let _ = sockopt::set_socket_recv_buffer_size_force(&socket, BUFFER);
        let mut exits = Self { socket, buffer: vec![0; 64 << 10].into(), before: None };
        let family = exits.family().ok()??;
        let cpus = text(processors.trim());
        exits.send(family, GET, REGISTER, &cpus).ok()?;
        exits.before = fs::read_to_string(SWITCH).ok();
        fs::write(SWITCH, "1").ok()?;
        Some(exits)
    }

    /// The number of the family, looked up by name.
    fn family(&mut self) -> io::Result<Option<u16>> {
        self.send(CONTROLLER, GET_FAMILY, FAMILY_NAME, &text("TASKSTATS"))?;
        let (length, _) = recv(&self.socket, &mut self.buffer[..], RecvFlags::empty())?;
        let body = self.buffer[..length].get(MESSAGE + GENERIC..).unwrap_or_default();
        let found = attributes(body).find(|&(kind, _)| kind == FAMILY_ID);
        Ok(found.and_then(|(_, value)| Some(u16::from_ne_bytes(*value.first_chunk()?))))
    }

    fn send(&self, family: u16, command: u8, kind: u16, value: &[u8]) -> io::Result<()> {
        let padded = value.len().next_multiple_of(4);
        let size = |bytes: usize| u32::try_from(bytes).map_err(io::Error::other);
        let mut message = Vec::new();
        message.extend(size(MESSAGE + GENERIC + ATTRIBUTE + padded)?.to_ne_bytes());
        message.extend(family.to_ne_bytes());
        message.extend(REQUEST.to_ne_bytes());
        message.extend(SEQUENCE.to_ne_bytes());
        message.extend([0; 4]);
        message.extend([command, 1, 0, 0]);
        let attribute = u16::try_from(ATTRIBUTE + value.len()).map_err(io::Error::other)?;
        message.extend(attribute.to_ne_bytes());
        message.extend(kind.to_ne_bytes());
        message.extend(value);
        message.resize(MESSAGE + GENERIC + ATTRIBUTE + padded, 0);
        sendto(&self.socket, &message, SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
        Ok(())
    }

    /// The threads that ended since the last call; does not wait.
    pub fn take(&mut self) -> Vec<ThreadExit> {
        let mut found = Vec::new();
        while let Ok((length, _)) = recv(&self.socket, &mut self.buffer[..], RecvFlags::DONTWAIT) {
            found.extend(messages(&self.buffer[..length]));
        }
        found
    }
}

impl Drop for Taskstats {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // Setting it back can't fail where setting it worked.
            let _ = fs::write(SWITCH, before.trim());
        }
    }
}

/// A text as the kernel takes it, with a zero at its end.
fn text(text: &str) -> Vec<u8> {
    text.bytes().chain([0]).collect()
}

/// The threads in a datagram.
fn messages(mut datagram: &[u8]) -> Vec<ThreadExit> {
    let mut found = Vec::new();
    while let Some(length) = datagram.first_chunk().map(|&length| u32::from_ne_bytes(length)) {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let Some(message) = datagram.get(..length).filter(|_| length >= MESSAGE) else { break };
        if message[4..6] != ERROR.to_ne_bytes() {
            let body = message.get(MESSAGE + GENERIC..).unwrap_or_default();
            let threads = attributes(body).filter(|&(kind, _)| kind == OF_THREAD);
            let numbers = threads.flat_map(|(_, nested)| attributes(nested));
            found.extend(
                numbers.filter(|&(kind, _)| kind == NUMBERS).filter_map(|(_, value)| exit(value)),
            );
        }
        datagram = datagram.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    found
}

/// The attributes in a message or in another attribute, as kind and value.
fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let header: [u8; ATTRIBUTE] = *bytes.first_chunk()?;
        let length = usize::from(u16::from_ne_bytes([header[0], header[1]]));
        // The two highest bits are flags.
        let kind = u16::from_ne_bytes([header[2], header[3]]) & 0x3fff;
        let value = bytes.get(ATTRIBUTE..length)?;
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, value))
    })
}

/// The end of a thread, from its numbers.
fn exit(numbers: &[u8]) -> Option<ThreadExit> {
    let version = u16::from_ne_bytes(*numbers.first_chunk()?);
    let at = |place: usize| Some(i32::from_ne_bytes(*numbers.get(place..)?.first_chunk()?));
    let ran = u64::from_ne_bytes(*numbers.get(RUN..)?.first_chunk()?);
    let name = numbers.get(NAME..NAME + NAME_LENGTH)?.split(|&byte| byte == 0).next()?;
    let name = String::from_utf8_lossy(name).into_owned();
    (version >= VERSION).then_some(ThreadExit {
        thread: at(THREAD)?,
        process: at(PROCESS)?,
        name,
        ran,
    })
}

#[cfg(test)]
mod tests {
    use super::{ThreadExit, messages};

    fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
        let length = u16::try_from(4 + value.len()).expect("short");
        let mut bytes = [length.to_ne_bytes(), kind.to_ne_bytes()].concat();
        bytes.extend(value);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    fn message(version: u16) -> Vec<u8> {
        let mut numbers = vec![0; 416];
        numbers[..2].copy_from_slice(&version.to_ne_bytes());
        numbers[72..80].copy_from_slice(&123_456_u64.to_ne_bytes());
        numbers[80..83].copy_from_slice(b"cat");
        numbers[128..132].copy_from_slice(&7_i32.to_ne_bytes());
        numbers[368..372].copy_from_slice(&6_i32.to_ne_bytes());
        let nested = [attribute(1, &[7, 0, 0, 0]), attribute(3, &numbers)].concat();
        let body = [vec![1, 1, 0, 0], attribute(4, &nested), attribute(5, &nested)].concat();
        let length = u32::try_from(16 + body.len()).expect("short");
        [&length.to_ne_bytes()[..], &[30, 0, 0, 0], &[0; 8], &body].concat()
    }

    #[test]
    fn an_end_is_read_once_for_the_thread_and_not_for_its_process() {
        let expected = ThreadExit { thread: 7, process: 6, name: "cat".into(), ran: 123_456 };
        assert_eq!(messages(&message(13)), [expected]);
        assert_eq!(messages(&[message(13), message(12)].concat()).len(), 2);
    }

    #[test]
    fn what_is_cut_off_or_too_old_is_no_end() {
        assert_eq!(messages(&message(8)), []);
        let whole = message(13);
        for length in 0..whole.len() {
            messages(&whole[..length]);
        }
    }
}
