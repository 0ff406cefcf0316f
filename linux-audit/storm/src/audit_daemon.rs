//! The audit daemon: reads every record. Numbered calls must be recorded in order, each once, and
//! calls that no rule matches never.

use std::io;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use crate::decisions;
use crate::kernel::netlink::{Netlink, SYSCALL};
use crate::kernel::record::Record;
use crate::processes::numbered_callers::{self, FIRST_USER, UNMATCHED_USER};
use crate::shared_memory::{Count, NUMBERED_CALLERS, Shared};

/// Reads records until `ended` is true and none are left.
pub fn read(
    netlink: &mut Netlink,
    shared: &Shared,
    mut ended: impl FnMut() -> bool,
) -> io::Result<()> {
    loop {
        while let Some(message) = netlink.receive()? {
            if message.kind == SYSCALL {
                check(&String::from_utf8_lossy(message.payload), shared);
            }
        }
        if !netlink.wait(Duration::from_millis(50))? && ended() {
            return Ok(());
        }
    }
}

fn check(text: &str, shared: &Shared) {
    shared.count(Count::Records);
    let Some(record) = Record::parse(text) else {
        shared.fault(&format!("a record that makes no sense: {text}"));
        return;
    };
    if record.user == UNMATCHED_USER {
        shared.fault(&format!("a call that no rule matches was recorded: {text}"));
    } else if record.user >= FIRST_USER && (record.user - FIRST_USER) < 100 {
        check_numbered(&record, text, shared);
    } else {
        decisions::note(&record, shared);
    }
}

fn check_numbered(record: &Record<'_>, text: &str, shared: &Shared) {
    let which = (record.user - FIRST_USER) as usize;
    if which >= NUMBERED_CALLERS {
        shared.fault(&format!("a record of a user without processes: {text}"));
        return;
    }
    let own = &shared.numbered_calls[which];
    let last = own.recorded.load(SeqCst);
    // The process whose every call is recorded makes some before its numbering starts and at the
    // end; they are not counted.
    if which == 1 && record.mark != last + 1 && !numbered_callers::numbered(record.call) {
        return;
    }
    if record.mark != last + 1 {
        shared.fault(&format!("numbered caller {which}: after {last} came {text}"));
    }
    if record.key != numbered_callers::key(which) {
        shared.fault(&format!("numbered caller {which} was recorded under another key: {text}"));
    }
    own.recorded.store(record.mark, SeqCst);
    shared.count(Count::NumberedRecords);
}
