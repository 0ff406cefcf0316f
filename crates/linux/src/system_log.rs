//! The socket of the system log, to which auditctl writes complaints when it reads rules from a
//! file.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixDatagram;

const PATH: &str = "/dev/log";
/// The longest message taken, in bytes.
const LONGEST: usize = 8 << 10;

/// The system log of a machine that has no other; it exists as long as this value.
pub struct SystemLog {
    socket: UnixDatagram,
    /// The messages so far, one a line.
    pub text: String,
}

impl SystemLog {
    /// Opens the log; `None` if another program keeps one, or if this process may not.
    #[must_use]
    pub fn open() -> Option<Self> {
        let socket = UnixDatagram::bind(PATH).ok()?;
        socket.set_nonblocking(true).ok()?;
        Some(Self { socket, text: String::new() })
    }

    /// Takes the messages that are there; does not wait.
    ///
    /// # Errors
    ///
    /// The log can't be read.
    pub fn take(&mut self) -> io::Result<()> {
        let mut message = [0; LONGEST];
        loop {
            match self.socket.recv(&mut message) {
                Ok(length) => {
                    self.text += body(&String::from_utf8_lossy(&message[..length]));
                    self.text.push('\n');
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for SystemLog {
    fn drop(&mut self) {
        // A socket left behind would refuse connections; without one they are refused too.
        let _ = std::fs::remove_file(PATH);
    }
}

impl AsFd for SystemLog {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// A message without what the C library puts before it: `<27>Jan  1 00:00:00 auditctl: `.
fn body(message: &str) -> &str {
    let message = message.trim_end_matches(['\0', '\n']);
    message.split_once(": ").map_or(message, |(_, body)| body)
}

#[cfg(test)]
mod tests {
    use super::body;

    #[test]
    fn a_message_is_freed_of_priority_time_and_name() {
        let message = "<27>Jan  1 00:00:00 auditctl: There was an error in line 2 of /run/x: y\n";
        assert_eq!(body(message), "There was an error in line 2 of /run/x: y");
        assert_eq!(body("free text"), "free text");
    }
}
