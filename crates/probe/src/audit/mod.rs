//! The audit daemon: takes the kernel's records and counts those of the measured process.

mod counts;

use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::process::{self, Command};

use hardcost_linux::daemon::{Daemon, refused};
use hardcost_linux::syslog::SystemLog;

use self::counts::Counts;
use crate::error::{Context, Error, Result};
use crate::process::Process;
use crate::protocol::{Answer, AuditCounts};

const AUDITCTL: &str = "/sbin/auditctl";
const RULES: &str = "/run/hardcost.rules";
/// Where they lie under SELinux, which lets auditctl read its own folder and no other.
const LABELLED_RULES: &str = "/etc/audit/hardcost.rules";
const SELINUX: &str = "/sys/fs/selinux/enforce";
/// How much of auditctl's outputs to report, in bytes of each.
const OUTPUT_LIMIT: usize = 64 << 10;

/// This process as the kernel's audit daemon.
///
/// The kernel makes no records of what its audit daemon does.
pub struct Audit {
    daemon: Daemon,
    counts: Counts,
    lost_before: u32,
}

impl Audit {
    /// Opens the connection to the kernel; changes nothing yet.
    pub fn new() -> Result<Self> {
        let daemon = Daemon::open().map_err(explain)?;
        Ok(Self { daemon, counts: Counts::default(), lost_before: 0 })
    }

    /// Turns audit on and becomes its daemon.
    pub fn enable(&mut self, backlog_limit: u32) -> Result<()> {
        self.daemon.enable(backlog_limit).map_err(explain)
    }

    /// Loads rules by auditctl, which judges them, and says how that went.
    pub fn load(&mut self, rules: &str) -> Result<Answer> {
        let (exit, stdout, stderr) = if rules.is_empty() {
            (Some(0), String::new(), String::new())
        } else {
            let path = if fs::exists(SELINUX).unwrap_or(false) { LABELLED_RULES } else { RULES };
            fs::write(path, rules).context(|| path.into())?;
            self.run_auditctl(&["-R", path]).context(|| AUDITCTL.into())?
        };
        let loaded = self.daemon.control.list().context(|| "listing audit rules".into())?.len();
        Ok(Answer::Audit { exit, stdout, stderr, loaded })
    }

    /// Runs auditctl: its exit status, output and complaints.
    fn run_auditctl(&mut self, words: &[&str]) -> io::Result<(Option<i32>, String, String)> {
        let mut log = SystemLog::open();
        let mut command = Command::new(AUDITCTL);
        command.args(words).stdin(process::Stdio::null());
        let mut auditctl = Process::start(command, OUTPUT_LIMIT)?;
        while !auditctl.wait(log.as_ref().map(AsFd::as_fd), Some(self))?.ended {
            log.iter_mut().try_for_each(SystemLog::take)?;
        }
        let status = auditctl.reap()?;
        auditctl.take_rest()?;
        log.iter_mut().try_for_each(SystemLog::take)?;
        let logged = log.map_or_else(String::new, |log| log.text.clone());
        let complaints = (auditctl.stderr.text() + &logged).chars().take(OUTPUT_LIMIT).collect();
        Ok((status.code(), auditctl.stdout.text(), complaints))
    }

    /// Takes the records that have arrived; does not wait.
    pub fn take(&mut self) -> io::Result<()> {
        let Self { daemon, counts, .. } = self;
        daemon.take(|record| counts.take(record))
    }

    /// Starts to count the records of an audit session, once all before them have arrived.
    pub fn begin(&mut self, session: Option<u32>) -> Result<()> {
        self.lost_before = self.settle()?;
        self.counts = Counts::of(session);
        Ok(())
    }

    /// What was counted since `begin`, once all of it has arrived.
    pub fn finish(&mut self) -> Result<AuditCounts> {
        let lost = self.settle()?.wrapping_sub(self.lost_before);
        let counts = std::mem::take(&mut self.counts);
        Ok(counts.into_answer(lost))
    }

    /// Waits until no record is on its way; the number of records lost since the kernel started.
    fn settle(&mut self) -> Result<u32> {
        let Self { daemon, counts, .. } = self;
        daemon.settle(|record| counts.take(record)).map_err(explain)
    }
}

impl AsFd for Audit {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.daemon.as_fd()
    }
}

/// Says what the kernel's refusal means.
fn explain(source: io::Error) -> Error {
    Error::System { what: refused(&source).into(), source }
}
