//! This process as the audit daemon: it loads rules with auditctl and keeps the kernel's records.

use std::fs;
use std::os::fd::AsFd;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use hardcost_linux::audit_daemon::{Daemon, refusal_reason};
use hardcost_linux::system_log::SystemLog;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

const AUDITCTL: &str = "/sbin/auditctl";
const RULES: &str = "/run/hardcost.rules";
/// How many records the kernel may queue.
const BACKLOG_LIMIT: u32 = 8192;
/// How often to have rules listed until none is missing.
const LISTINGS: usize = 8;
/// How often to look whether auditctl has ended.
const PATIENCE: Duration = Duration::from_millis(1);

/// A record of the kernel, as text.
#[derive(Debug)]
pub struct Record {
    /// Its kind, as in `linux/audit.h`.
    pub kind: u16,
    /// Its text, from `audit(` on.
    pub text: String,
}

/// This process as the kernel's audit daemon, of which the kernel makes no records.
pub struct Audit {
    daemon: Daemon,
}

impl Audit {
    /// Turns audit on, with this process as its daemon.
    pub fn begin() -> Result<Self> {
        let open = || {
            let mut daemon = Daemon::open()?;
            daemon.enable(BACKLOG_LIMIT)?;
            Ok(daemon)
        };
        let daemon = open().map_err(|error: std::io::Error| {
            let what = refusal_reason(&error);
            anyhow!(error).context(what)
        })?;
        Ok(Self { daemon })
    }

    /// Loads rules by auditctl, which judges them: its complaints, and how many the kernel holds.
    pub fn load(&mut self, rules: &str) -> Result<(String, usize)> {
        fs::write(RULES, rules).context(RULES)?;
        let complaints = auditctl(&["-R", RULES])?.1;
        let loaded = self.daemon.control.list().context("listing audit rules")?.len();
        Ok((complaints, loaded))
    }

    /// Deletes all rules. auditctl can do that too, but often waits 0.1 s for nothing.
    pub fn clear(&mut self) -> Result<()> {
        let control = &mut self.daemon.control;
        let rules = control.list().context("listing audit rules")?;
        rules.iter().try_for_each(|rule| control.delete(rule)).context("deleting audit rules")
    }

    /// The records since the last call, once all have arrived, and how many were lost since the
    /// kernel started.
    pub fn records(&mut self) -> Result<(Vec<Record>, u32)> {
        let mut kept = Vec::new();
        let lost = self.daemon.settle(|record| {
            let text = String::from_utf8_lossy(record.payload);
            let text = text.trim_end_matches(['\0', '\n']).to_owned();
            kept.push(Record { kind: record.kind, text });
        });
        Ok((kept, lost.context("taking audit records")?))
    }
}

/// What `auditctl -l` prints for as many rules as are `loaded`, one a line, as it words them.
///
/// On a busy host auditctl sometimes misses a rule that the kernel holds; then it is asked again.
pub fn listing(loaded: usize) -> Result<String> {
    let mut listed = String::new();
    for _ in 0..LISTINGS {
        listed = auditctl(&["-l"])?.0;
        if loaded == 0 || listed.lines().count() >= loaded {
            break;
        }
    }
    Ok(listed)
}

/// Runs auditctl: returns what it printed, and its complaints, which may go to the system log.
fn auditctl(words: &[&str]) -> Result<(String, String)> {
    let mut log = SystemLog::open().context("there is a system log already")?;
    let mut command = Command::new(AUDITCTL);
    command.args(words).stdin(Stdio::null());
    let running = thread::spawn(move || command.output());
    while !running.is_finished() {
        wait_for(&log)?;
        log.take().context("reading the system log")?;
    }
    let Output { stdout, stderr, .. } =
        running.join().map_err(|_| anyhow!("auditctl's output was not read"))?.context(AUDITCTL)?;
    log.take().context("reading the system log")?;
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ok((text(stdout), text(stderr) + &log.text))
}

/// Waits until there is something in the log, for a moment at most.
fn wait_for(log: &SystemLog) -> Result<()> {
    let most = Timespec::try_from(PATIENCE)?;
    match poll(&mut [PollFd::new(&log.as_fd(), PollFlags::IN)], Some(&most)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
