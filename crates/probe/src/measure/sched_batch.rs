//! Who gives way to whom on the only processor of a guest.

use std::fs;
use std::io;

use crate::error::{Context, Result};

/// The kernel's thread that carries audit records to the daemon.
const CARRIER: &str = "kauditd";

/// While this lives, this process (with [`Aside::step`] the kernel's audit thread as well) does not
/// interrupt another that runs when something wakes it: it runs when that one sleeps, or at a tick
/// of the clock.
///
/// Otherwise it would depend on who ran how long before whether they get their turn in the midst of
/// a timed window, and their work would count for the call that is measured.
pub struct Aside {
    threads: Vec<i32>,
}

impl Aside {
    /// Steps aside, and has the kernel's audit thread do so.
    pub fn step() -> Result<Self> {
        let mut threads = find(CARRIER).context(|| "/proc".into())?;
        threads.push(0);
        Self::of(threads)
    }

    /// Steps aside. The audit thread's work counts where it interrupts.
    pub fn alone() -> Result<Self> {
        Self::of(vec![0])
    }

    fn of(threads: Vec<i32>) -> Result<Self> {
        for &thread in &threads {
            set_policy(thread, libc::SCHED_BATCH).context(|| "stepping aside".into())?;
        }
        Ok(Self { threads })
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        for &thread in &self.threads {
            // What could be set can be set back.
            let _ = set_policy(thread, libc::SCHED_OTHER);
        }
    }
}

/// The ids of all processes of that name.
fn find(name: &str) -> io::Result<Vec<i32>> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let entry = entry?;
        let Some(pid) = entry.file_name().to_str().and_then(|text| text.parse().ok()) else {
            continue;
        };
        // A process may have ended since.
        let its_name = fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
        if its_name.trim_end() == name {
            found.push(pid);
        }
    }
    Ok(found)
}

/// Sets a thread's scheduling policy; 0 is the calling thread.
fn set_policy(thread: i32, policy: i32) -> io::Result<()> {
    let parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: reads the parameters alone.
    match unsafe { libc::sched_setscheduler(thread, policy, &raw const parameters) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::find;

    #[test]
    fn processes_are_found_by_name() {
        let name = std::fs::read_to_string("/proc/self/comm").expect("readable");
        let own = rustix::process::getpid().as_raw_nonzero().get();
        assert!(find(name.trim_end()).expect("a listing").contains(&own));
        assert!(find("no such name").expect("a listing").is_empty());
    }
}
