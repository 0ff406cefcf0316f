//! A process as the kernel's audit daemon, whether it does nothing else or measures besides.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::process;
use std::time::Duration;

use crate::netlink::{Message, Netlink, Setting};

/// The size of the buffer for records that this process has not read yet, in bytes.
const RECEIVE_BUFFER: usize = 64 << 20;
/// After how long without a record there are taken to be no more.
const QUIET: Duration = Duration::from_millis(1);
/// How often to check for that.
const PATIENCE: u32 = 1000;

/// This process as the kernel's audit daemon.
///
/// The kernel makes no records of what its audit daemon does.
pub struct Daemon {
    /// The socket where records arrive.
    records: Netlink,
    /// The socket for requests: a separate one, so that records and answers do not mix.
    pub control: Netlink,
}

/// Each method fails with the kernel's refusal; [`refusal_reason`] puts it into words.
#[expect(clippy::missing_errors_doc, reason = "said once, for all of them")]
impl Daemon {
    /// Opens the connection to the kernel; changes nothing yet.
    pub fn open() -> io::Result<Self> {
        let open = || Netlink::open(RECEIVE_BUFFER);
        Ok(Self { records: open()?, control: open()? })
    }

    /// Turns audit on and becomes its daemon. `backlog_limit`: records that the kernel may queue.
    pub fn enable(&mut self, backlog_limit: u32) -> io::Result<()> {
        let own = process::id();
        // Registering a second time is refused: there is a daemon already.
        let registered = self.control.status()?.daemon == own;
        let setting = Setting { daemon: (!registered).then_some(own), backlog_limit };
        self.records.enable(&setting)?;
        let status = self.control.status()?;
        if status.enabled == 0 || status.daemon != own {
            let message = format!("it is not on, or has another daemon: {status:?}");
            return Err(io::Error::other(message));
        }
        Ok(())
    }

    /// Lets the kernel make so many records, which are discarded; audit stays off.
    ///
    /// Each record has a serial number, and each digit of it costs instructions.
    pub fn use_up_serials(&mut self, records: u32) -> io::Result<()> {
        self.control.set_daemon(process::id())?;
        for _ in 0..records {
            self.control.record(b"op=none")?;
            self.take(|_| ())?;
        }
        self.settle(|_| ())?;
        self.control.set_daemon(0)
    }

    /// Takes the records that have arrived; does not wait.
    pub fn take(&mut self, mut with: impl FnMut(&Message<'_>)) -> io::Result<()> {
        while let Some(record) = self.records.receive()? {
            with(&record);
        }
        Ok(())
    }

    /// Takes records until no more are coming, and returns how many were lost since the kernel
    /// started.
    pub fn settle(&mut self, mut with: impl FnMut(&Message<'_>)) -> io::Result<u32> {
        let mut quiet = 0;
        for _ in 0..PATIENCE {
            self.take(&mut with)?;
            let status = self.control.status()?;
            // A record that has left the queue need not have arrived yet: the kernel's thread that
            // sends it may still have to run.
            let waiting = self.records.wait(QUIET)?;
            quiet = if status.backlog == 0 && !waiting { quiet + 1 } else { 0 };
            if quiet == 2 {
                return Ok(status.lost);
            }
        }
        Err(io::Error::other("records do not cease to come, so none can be counted"))
    }
}

impl AsFd for Daemon {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.records.as_fd()
    }
}

/// Whether the kernel has no audit, or none in this namespace.
#[must_use]
pub fn audit_is_absent(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EPROTONOSUPPORT | libc::ECONNREFUSED))
}

/// What the kernel's refusal of a request about audit means.
#[must_use]
pub fn refusal_reason(source: &io::Error) -> &'static str {
    match source.raw_os_error() {
        Some(libc::EPROTONOSUPPORT) => {
            "the kernel has no audit: it was built without, or booted with audit=0"
        }
        Some(libc::ECONNREFUSED) => "the kernel's audit does not listen in this namespace",
        Some(libc::EEXIST) => "another audit daemon is running",
        Some(libc::EPERM) => "audit may not be changed: not root, or the rules are locked",
        _ => "audit",
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::refusal_reason;

    #[test]
    fn a_refusal_is_put_into_words_and_other_failures_are_not_blamed_on_one() {
        let words = |number| refusal_reason(&io::Error::from_raw_os_error(number));
        assert!(words(libc::EPERM).contains("not root"));
        assert!(words(libc::EEXIST).contains("another audit daemon"));
        assert_eq!(words(libc::EIO), "audit");
        assert_eq!(refusal_reason(&io::Error::other("x")), "audit");
    }
}
