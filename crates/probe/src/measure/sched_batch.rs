//! The scheduling policy `SCHED_BATCH`: a process that wakes up does not preempt the one that runs.

use std::fs;
use std::io;
use std::sync::OnceLock;

use crate::error::{Context, Result};

/// The kernel's thread that delivers audit records to the daemon.
const AUDIT_THREAD: &str = "kauditd";
/// Its id, once it was looked for among all processes: the kernel's threads never end.
static AUDIT_THREADS: OnceLock<Vec<i32>> = OnceLock::new();

/// While this lives, this process does not preempt another when it wakes up, and with
/// [`SchedBatch::with_audit_thread`] the kernel's audit thread does not, either. They run when the
/// other one sleeps, or at a tick.
///
/// Otherwise earlier run times would decide whether they run within a timed window, and their work
/// would count for the measured call.
pub struct SchedBatch {
    threads: Vec<i32>,
}

impl SchedBatch {
    /// The policy for this process and the kernel's audit thread.
    pub fn with_audit_thread() -> Result<Self> {
        let threads = if let Some(threads) = AUDIT_THREADS.get() {
            threads
        } else {
            let found = find(AUDIT_THREAD).context(|| "/proc".into())?;
            AUDIT_THREADS.get_or_init(|| found)
        };
        Self::of([threads, &[0][..]].concat())
    }

    /// The policy for this process. The audit thread's work counts where it preempts.
    pub fn own() -> Result<Self> {
        Self::of(vec![0])
    }

    fn of(threads: Vec<i32>) -> Result<Self> {
        for &thread in &threads {
            set_policy(thread, libc::SCHED_BATCH).context(|| "stepping aside".into())?;
        }
        Ok(Self { threads })
    }
}

impl Drop for SchedBatch {
    fn drop(&mut self) {
        for &thread in &self.threads {
            // Setting the default policy can't fail where setting another one worked.
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
        // A process may have ended meanwhile.
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
