//! The audit daemon: takes the kernel's records and counts those of the measured process.

mod counts;
mod syslog;

use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::process::{self, Command};
use std::time::Duration;

use hardcost_linux::netlink::{Netlink, SYSCALL, Setting};

use self::counts::Counts;
use self::syslog::SystemLog;
use crate::error::{Context, Error, Result};
use crate::process::Process;
use crate::protocol::{Answer, AuditCounts};
use crate::wait::{Beside, Deadline};

const AUDITCTL: &str = "/sbin/auditctl";
const RULES: &str = "/run/hardcost.rules";
/// Where they lie under SELinux, which lets auditctl read its own folder and no other.
const LABELLED_RULES: &str = "/etc/audit/hardcost.rules";
const SELINUX: &str = "/sys/fs/selinux/enforce";
/// How much of auditctl's outputs to report, in bytes of each.
const OUTPUT_LIMIT: usize = 64 << 10;
/// How much the kernel may have on the way to us, in bytes.
const RECEIVE_BUFFER: usize = 64 << 20;
/// How long no record may come before there are taken to be no more.
const QUIET: Duration = Duration::from_millis(1);
/// How often to look whether there are no more.
const PATIENCE: u32 = 1000;

/// A record of the kernel's, as text.
#[derive(Debug)]
pub struct Record {
    /// What it is.
    pub kind: u16,
    /// Its text, from `audit(` on.
    pub text: String,
}

/// This process as the kernel's audit daemon.
///
/// The kernel makes no records of what its audit daemon does.
pub struct Audit {
    /// Where records arrive.
    records: Netlink,
    /// Where questions are asked, so that records and answers do not mix.
    control: Netlink,
    counts: Counts,
    /// Records kept whole, where that was asked for.
    kept: Option<Vec<Record>>,
    lost_before: u32,
}

impl Audit {
    /// Opens the connection to the kernel; changes nothing yet.
    pub fn new() -> Result<Self> {
        let open = || Netlink::open(RECEIVE_BUFFER).map_err(explain);
        let (records, control) = (open()?, open()?);
        Ok(Self { records, control, counts: Counts::default(), kept: None, lost_before: 0 })
    }

    /// Turns audit on and becomes its daemon.
    pub fn enable(&mut self, backlog_limit: u32) -> Result<()> {
        let own = process::id();
        // Registering twice is refused: there is a daemon already.
        let registered = self.control.status().map_err(explain)?.daemon == own;
        let setting = Setting { daemon: (!registered).then_some(own), backlog_limit };
        self.records.enable(&setting).map_err(explain)?;
        let status = self.control.status().map_err(explain)?;
        if status.enabled == 0 || status.daemon != own {
            let message = format!("audit is not on, or has another daemon: {status:?}");
            return Err(Error::Other(message));
        }
        Ok(())
    }

    /// Loads rules by auditctl, which judges them, and says how that went.
    pub fn load(&mut self, rules: &str) -> Result<Answer> {
        let (exit, stdout, stderr) = if rules.is_empty() {
            (Some(0), String::new(), String::new())
        } else {
            let path = if fs::exists(SELINUX).unwrap_or(false) { LABELLED_RULES } else { RULES };
            fs::write(path, rules).context(|| path.into())?;
            self.run_auditctl(&["-R", path])?
        };
        let loaded = self.control.list().context(|| "listing audit rules".into())?.len();
        Ok(Answer::Audit { exit, stdout, stderr, loaded })
    }

    /// Deletes all rules; auditctl often waits for nothing when it does that, for 0.1 s.
    pub fn clear(&mut self) -> Result<()> {
        self.delete_rules().context(|| "deleting audit rules".into())
    }

    fn delete_rules(&mut self) -> io::Result<()> {
        for rule in self.control.list()? {
            self.control.delete(&rule)?;
        }
        Ok(())
    }

    /// What `auditctl -l` prints: the rules as it words them.
    pub fn list(&mut self) -> Result<String> {
        self.run_auditctl(&["-l"]).map(|(_, stdout, _)| stdout)
    }

    /// Runs auditctl: its exit status, output and complaints.
    fn run_auditctl(&mut self, words: &[&str]) -> Result<(Option<i32>, String, String)> {
        let mut log = SystemLog::open();
        let mut command = Command::new(AUDITCTL);
        command.args(words).stdin(process::Stdio::null());
        let mut auditctl = Process::start(command, OUTPUT_LIMIT)?;
        let taken = |log: &mut Option<SystemLog>| {
            log.iter_mut().try_for_each(SystemLog::take).context(|| AUDITCTL.into())
        };
        while !auditctl.wait(log.as_ref().map(AsFd::as_fd), self, Deadline::NEVER)?.ended {
            taken(&mut log)?;
        }
        let status = auditctl.reap()?;
        auditctl.outputs.take_rest()?;
        taken(&mut log)?;
        let logged = log.map_or_else(String::new, |log| log.text.clone());
        let complaints =
            (auditctl.outputs.stderr.text() + &logged).chars().take(OUTPUT_LIMIT).collect();
        Ok((status.code(), auditctl.outputs.stdout.text(), complaints))
    }

    /// Takes the records that have arrived; does not wait.
    pub fn take(&mut self) -> Result<()> {
        while let Some(record) = self.records.receive().context(|| "taking audit records".into())? {
            if record.kind == SYSCALL {
                self.counts.add(record.payload);
            }
            if let Some(kept) = &mut self.kept {
                let text = String::from_utf8_lossy(record.payload);
                let text = text.trim_end_matches(['\0', '\n']).to_owned();
                kept.push(Record { kind: record.kind, text });
            }
        }
        Ok(())
    }

    /// Starts to keep records whole.
    pub fn keep(&mut self) {
        self.kept = Some(Vec::new());
    }

    /// The records since `keep`, once all have arrived, and how many of any were lost by now.
    pub fn kept(&mut self) -> Result<(Vec<Record>, u32)> {
        let lost = self.settle()?;
        Ok((self.kept.take().unwrap_or_default(), lost))
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
        let mut quiet = 0;
        for _ in 0..PATIENCE {
            self.take()?;
            let status = self.control.status().map_err(explain)?;
            // A record that has left the queue need not have arrived yet: the kernel's thread that
            // carries it runs while we wait.
            let waiting = self.records.wait(QUIET).context(|| "waiting for records".into())?;
            quiet = if status.backlog == 0 && !waiting { quiet + 1 } else { 0 };
            if quiet == 2 {
                return Ok(status.lost);
            }
        }
        Err(Error::Other("audit records do not cease to come, so none can be counted".into()))
    }
}

impl Beside for Audit {
    fn sources(&self) -> Vec<BorrowedFd<'_>> {
        vec![self.records.as_fd()]
    }

    fn take(&mut self) -> Result<()> {
        Audit::take(self)
    }
}

impl AsFd for Audit {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.records.as_fd()
    }
}

/// Says what the kernel's refusal means.
fn explain(source: io::Error) -> Error {
    let what = match source.raw_os_error() {
        Some(libc::EPROTONOSUPPORT) => {
            "the kernel has no audit: it was built without, or booted with audit=0"
        }
        Some(libc::ECONNREFUSED) => "the kernel's audit does not listen in this namespace",
        Some(libc::EEXIST) => "another audit daemon is running",
        Some(libc::EPERM) => "audit may not be changed: not root, or the rules are locked",
        _ => "audit",
    };
    Error::System { what: what.into(), source }
}
