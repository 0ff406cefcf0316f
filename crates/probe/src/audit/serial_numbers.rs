//! The serial numbers of audit records, which must not get longer during a job.

use std::io;

use hardcost_linux::audit_daemon::{Daemon, audit_is_absent};

/// How many serial numbers of audit records have fewer than four digits.
const SHORT_SERIALS: u32 = 1000;

/// Lets the kernel's audit records begin at serial number 1000, if it makes any.
///
/// A record's serial number costs some 20 instructions a digit. From 1 on it would get longer
/// during a job, at a call that depends on how many records came before.
pub fn use_up_short_serials() -> io::Result<()> {
    match Daemon::open().and_then(|mut daemon| daemon.use_up_serials(SHORT_SERIALS)) {
        Err(error) if audit_is_absent(&error) => Ok(()),
        outcome => outcome,
    }
}
