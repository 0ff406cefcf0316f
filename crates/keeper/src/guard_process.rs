//! The guard: a process that restores the machine if the one that changes it is killed.

use std::io::Write;
use std::process::{ChildStdin, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::boot::running_boot::reboot;
use crate::failure::{Failure, Result};
use crate::restore::restore;
use crate::stdio_lines::InputLines;

/// Messages to the guard: it is no longer needed, or has to reboot the machine.
const DISMISSED: &[u8] = b"dismissed\n";
const REBOOT: &[u8] = b"reboot\n";
/// How long a machine may take to go down.
const GOING_DOWN: Duration = Duration::from_secs(300);

/// The guard, as its parent sees it.
pub struct Guard {
    stream: ChildStdin,
}

impl Guard {
    /// Starts the guard.
    pub fn start() -> Result<Self> {
        let failed = |error| Failure::Failed(format!("the guard does not start: {error}"));
        let mut child = Command::new("/proc/self/exe")
            .arg("guard")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .current_dir("/")
            .spawn()
            .map_err(failed)?;
        let stream = child.stdin.take().ok_or_else(|| failed(std::io::ErrorKind::Other.into()))?;
        Ok(Self { stream })
    }

    /// Ends the guard: all is undone.
    pub fn dismiss(mut self) {
        let _ = self.stream.write_all(DISMISSED);
    }

    /// Lets the guard reboot the machine. If that does not go down, the guard undoes the changes.
    pub fn reboot(mut self) -> Result<()> {
        let sent = self.stream.write_all(REBOOT);
        sent.map_err(|error| Failure::Failed(format!("the guard is gone: {error}")))
    }
}

/// Waits for the end of the process that changes the machine. If that is too early, undoes the
/// changes.
pub fn guard() -> bool {
    let _ = rustix::process::setsid();
    let mut lines = InputLines::default();
    let forever = Duration::from_secs(u64::from(u32::MAX));
    let begun = Instant::now();
    loop {
        match lines.next(forever, None) {
            Ok(Some(line)) if line == b"reboot" => {
                if reboot().is_ok() {
                    sleep(GOING_DOWN);
                }
                return restore(false, true, None).problems.is_empty();
            }
            Ok(Some(_)) => return true, // dismissed
            Ok(None) if begun.elapsed() < forever => {
                return restore(false, true, None).problems.is_empty();
            }
            _ => {}
        }
    }
}
