//! What the logs of a system hold, counted: audit records, denials, messages of syslog.
//!
//! The formats are those of auditd, of the kernel and of rsyslog. A log is read line by line, so it
//! may be longer than memory; what a line holds is anybody's, and stays bytes until it is reported.

mod auditlog;
mod denials;
mod logfile;
mod messages;

use crate::error::Result;
use crate::protocol::{Answer, CountJob, LogKind};

/// Counts what a log holds.
pub fn count(job: CountJob) -> Result<Answer> {
    let CountJob { name, of, path } = job;
    let tally = match of {
        LogKind::Audit => auditlog::count(&path)?,
        LogKind::Denials => denials::count(&path)?,
        LogKind::Messages => messages::count(&path)?,
    };
    Ok(Answer::Counted { name, numbers: tally.numbers, texts: tally.texts })
}
