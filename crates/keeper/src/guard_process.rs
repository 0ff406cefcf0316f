//! A process that restores the machine if the one that changes it is killed.

use std::io::Write;
use std::process::{ChildStdin, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::failure::{Failure, Result};
use crate::lines::Lines;
use crate::restore::restore;
use crate::running::reboot;

/// What the guard is told to do: nothing more, or to reboot the machine.
const DISMISSED: &[u8] = b"dismissed\n";
const REBOOT: &[u8] = b"reboot\n";
/// How long a machine may take to go down.
const GOING_DOWN: Duration = Duration::from_secs(300);

/// The guard, as the process sees it that it guards.
pub struct Guard {
    stream: ChildStdin,
}

impl Guard {
    /// Starts it.
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

    /// Lets it go: all is undone.
    pub fn dismiss(mut self) {
        let _ = self.stream.write_all(DISMISSED);
    }

    /// Has it reboot the machine; if that does not go down, it undoes what was changed.
    pub fn reboot(mut self) -> Result<()> {
        let sent = self.stream.write_all(REBOOT);
        sent.map_err(|error| Failure::Failed(format!("the guard is gone: {error}")))
    }
}

/// Waits until whoever changes the machine has ended; if that was too early, undoes the changes.
pub fn guard() -> bool {
    let _ = rustix::process::setsid();
    let mut lines = Lines::default();
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
