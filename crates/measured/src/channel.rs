//! The socket between the probe and a measured process, and how messages are framed on it.

use alloc::vec;
use alloc::vec::Vec;

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::{Errno, read};
use rustix::net::{SendFlags, send};

pub use crate::messages::{
    CallTask, Command, Failure, Identity, Job, Noop, Order, Plan, Program, Ready, Reply, Task, User,
};
use crate::raw_syscalls::Fault;

/// The longest message, in bytes: a million samples are far fewer.
const LONGEST: u32 = 1 << 26;

/// One end of the connection. A message is its length (4 bytes) and as many bytes.
pub struct Channel {
    socket: OwnedFd,
}

impl Channel {
    /// The end with that socket.
    #[must_use]
    pub fn new(socket: OwnedFd) -> Self {
        Self { socket }
    }

    /// Sends a message.
    ///
    /// # Errors
    ///
    /// The other end is closed, or the message is too long.
    pub fn send(&self, message: &impl Message) -> Result<(), Fault> {
        let mut bytes = vec![0; 4];
        message.put(&mut bytes);
        let length = u32::try_from(bytes.len() - 4).ok().filter(|&length| length <= LONGEST);
        let length = length.ok_or(Fault::Wrong("too long a message"))?;
        bytes[..4].copy_from_slice(&length.to_le_bytes());
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            match send(&self.socket, rest, SendFlags::NOSIGNAL) {
                Ok(sent) => rest = &rest[sent..],
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Waits for a message; `None` if the other end is closed.
    ///
    /// # Errors
    ///
    /// The bytes are no message.
    pub fn receive<M: Message>(&self) -> Result<Option<M>, Fault> {
        let mut length = [0; 4];
        match self.fill(&mut length)? {
            0 => return Ok(None),
            4 => {}
            _ => return Err(CUT_OFF),
        }
        let length = u32::from_le_bytes(length);
        if length > LONGEST {
            return Err(NO_MESSAGE);
        }
        let mut bytes: Vec<u8> = vec![0; length as usize];
        if self.fill(&mut bytes)? < bytes.len() {
            return Err(CUT_OFF);
        }
        let mut from = &bytes[..];
        let message = M::take(&mut from).filter(|_| from.is_empty());
        message.map(Some).ok_or(NO_MESSAGE)
    }

    /// Reads until the buffer is full or the other end is closed. Returns the number of bytes.
    fn fill(&self, bytes: &mut [u8]) -> Result<usize, Fault> {
        let mut filled = 0;
        while filled < bytes.len() {
            match read(&self.socket, &mut bytes[filled..]) {
                Ok(0) | Err(Errno::CONNRESET) => break,
                Ok(count) => filled += count,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(filled)
    }
}

const CUT_OFF: Fault = Fault::Wrong("a message was cut off");
const NO_MESSAGE: Fault = Fault::Wrong("what was said is no message");

/// What can be sent.
pub trait Message: sealed::Wired {}
impl Message for Order {}
impl Message for Reply {}

mod sealed {
    use crate::wire_format::Wire;

    pub trait Wired: Wire {}
    impl<T: Wire> Wired for T {}
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use rustix::io::write;
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

    use super::{
        CallTask, Channel, Command, Failure, Identity, Job, Noop, Order, Plan, Program, Ready,
        Reply, Task, User,
    };
    use crate::clock::ClockName;
    use crate::cpu_time::CpuTime;
    use crate::raw_syscalls::Fault;
    use crate::window_start::WindowStart;

    fn pair() -> (Channel, Channel) {
        let flags = SocketFlags::CLOEXEC;
        let (near, far) =
            socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None).expect("sockets");
        (Channel::new(near), Channel::new(far))
    }

    fn call(clock: ClockName, window_start: WindowStart) -> Order {
        let name = "fork".into();
        let plan = Plan { name, batch: 1, samples: 101, warmup: 8, apart: 24 };
        let noop = Noop { path: "/bin/noop".into(), keep_open: true };
        let task = Task::Call(CallTask { clock, plan, window_start, noop });
        Order::Prepare(Job { directory: "/tmp/work.0".into(), identity: Some(1000), task })
    }

    #[test]
    fn each_order_arrives_as_it_was_sent() {
        let environment = BTreeMap::from([("PATH".to_owned(), "/bin".to_owned())]);
        let argv = vec!["sh".to_owned(), "-c".to_owned(), String::new()];
        let command =
            Task::Command(Command { argv: argv.clone(), environment: environment.clone() });
        let (near, far) = pair();
        for order in [
            call(ClockName::Tsc, WindowStart::AfterTick { later: 40_000 }),
            call(ClockName::Monotonic, WindowStart::AfterSleep(Duration::from_millis(1))),
            call(ClockName::Tsc, WindowStart::Immediate),
            Order::Prepare(Job { directory: "/".into(), identity: None, task: command }),
            Order::Become(Program {
                argv,
                user: Some(User { uid: 1, gid: 2, groups: vec![3, 4] }),
                login: None,
                context: Some("a:b:c:s0".into()),
                environment,
                folder: "/".into(),
                stdin: None,
            }),
            Order::Go,
            Order::Report,
        ] {
            near.send(&order).expect("sent");
            assert_eq!(far.receive(), Ok(Some(order)));
        }
    }

    #[test]
    fn each_reply_arrives_as_it_was_sent_and_then_the_end() {
        let identity = Identity { uid: 1000, loginuid: Some(1000), session: None };
        let (near, far) = pair();
        for reply in [
            Reply::Ready(Ready { identity, used: CpuTime { user: 7, system: 1 << 40 } }),
            Reply::Done,
            Reply::Samples(vec![0, 1, u64::MAX]),
            Reply::Failed(Failure { what: "call fork".into(), errno: Some(11) }),
        ] {
            near.send(&reply).expect("sent");
            assert_eq!(far.receive(), Ok(Some(reply)));
        }
        drop(near);
        assert_eq!(far.receive::<Reply>(), Ok(None));
        assert_eq!(far.send(&Order::Go), Err(Fault::Errno(libc::EPIPE)));
    }

    #[test]
    fn what_is_no_message_is_refused() {
        for bytes in [&[1, 0, 0, 0, 9][..], &[0xff; 4], &[5, 0, 0, 0, 1], &[2, 0, 0, 0, 2, 2]] {
            let (near, far) = pair();
            write(&near, bytes).expect("written");
            drop(near);
            assert!(far.receive::<Order>().is_err(), "{bytes:?}");
        }
    }
}
