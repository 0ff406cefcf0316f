//! Counts of what a system's logs hold: audit records, denials, messages of syslog.
//!
//! The formats are those of auditd, of the kernel and of rsyslog. A log is read line by line, since
//! it may be larger than memory. A line may hold anything, so it stays bytes until it is reported.
//!
//! Nothing here writes to a log. `log_files.rs` reads the files of a rotated one. The others know a
//! format each: `auditd_log.rs` auditd's, with events by key between two messages; `syslog.rs` a
//! file of syslog, with what rsyslog dropped; `denials.rs` those of SELinux and AppArmor, which of
//! them are one kind, and how many kinds are reported.

mod auditd_log;
mod denials;
mod log_files;
mod syslog;

use crate::error::Result;
use crate::protocol::{Answer, CountJob, LogKind};

/// Counts what a log holds.
pub fn count(job: CountJob) -> Result<Answer> {
    let CountJob { name, of, path } = job;
    let tally = match of {
        LogKind::Audit => auditd_log::count(&path)?,
        LogKind::Denials => denials::count(&path)?,
        LogKind::Messages => syslog::count(&path)?,
    };
    Ok(Answer::Counted { name, numbers: tally.numbers, texts: tally.texts })
}
