//! The audit daemon: reads every record, and compares the sentinels' with the expected ones.

use std::io;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use crate::netlink::{Netlink, SYSCALL};
use crate::record::Record;
use crate::sentinel::{self, FIRST_USER, QUIET_USER};
use crate::shared::{Count, SENTINELS, Shared};
use crate::survey;

/// Reads records until `ended` is true and none are left.
pub fn read(
    netlink: &mut Netlink,
    shared: &Shared,
    mut ended: impl FnMut() -> bool,
) -> io::Result<()> {
    loop {
        while let Some(message) = netlink.receive()? {
            if message.kind == SYSCALL {
                take(&String::from_utf8_lossy(message.payload), shared);
            }
        }
        if !netlink.wait(Duration::from_millis(50))? && ended() {
            return Ok(());
        }
    }
}

fn take(text: &str, shared: &Shared) {
    shared.count(Count::Records);
    let Some(record) = Record::parse(text) else {
        shared.fault(&format!("a record that makes no sense: {text}"));
        return;
    };
    if record.user == QUIET_USER {
        shared.fault(&format!("a call that no rule matches was recorded: {text}"));
    } else if record.user >= FIRST_USER && (record.user - FIRST_USER) < 100 {
        heard_of(&record, text, shared);
    } else {
        survey::heard(&record, shared);
    }
}

fn heard_of(record: &Record<'_>, text: &str, shared: &Shared) {
    let which = (record.user - FIRST_USER) as usize;
    if which >= SENTINELS {
        shared.fault(&format!("a record of nobody's: {text}"));
        return;
    }
    let own = &shared.sentinels[which];
    let last = own.heard.load(SeqCst);
    // Calls before the numbering starts, and at the end, are recorded for the sentinel of every
    // call; they are not counted.
    if which == 1 && record.mark != last + 1 && !sentinel::numbered(record.call) {
        return;
    }
    if record.mark != last + 1 {
        shared.fault(&format!("sentinel {which}: after {last} came {text}"));
    }
    if record.key != sentinel::key(which) {
        shared.fault(&format!("sentinel {which} was recorded under another key: {text}"));
    }
    own.heard.store(record.mark, SeqCst);
    shared.count(Count::Heard);
}
