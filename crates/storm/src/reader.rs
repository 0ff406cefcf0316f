//! The audit daemon: reads every record, and compares the sentinels' with the expected ones.

use std::io;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use crate::netlink::{Netlink, SYSCALL};
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

/// The parts of a call's record that the storm checks.
#[derive(Debug, PartialEq, Eq)]
pub struct Record<'a> {
    pub user: u32,
    pub mark: u64,
    pub call: u64,
    pub arch: u64,
    pub key: &'a str,
}

impl<'a> Record<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let mut record = Self { user: u32::MAX, mark: 0, call: 0, arch: 0, key: "" };
        for word in text.trim_end_matches(['\0', '\n']).split(' ') {
            let Some((name, value)) = word.split_once('=') else { continue };
            match name {
                "uid" => record.user = value.parse().ok()?,
                "a3" => record.mark = u64::from_str_radix(value, 16).ok()?,
                "syscall" => record.call = value.parse().ok()?,
                "arch" => record.arch = u64::from_str_radix(value, 16).ok()?,
                "key" => record.key = value.trim_matches('"'),
                _ => {}
            }
        }
        (record.user != u32::MAX).then_some(record)
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

#[cfg(test)]
mod tests {
    use super::Record;

    #[test]
    fn a_record_is_read() {
        let text = "audit(1.2:3): arch=c000003e syscall=110 success=yes exit=1 a0=0 a1=0 a2=0 \
                    a3=1f items=0 ppid=1 pid=9 auid=4294967295 uid=60001 gid=0 comm=\"init\" \
                    exe=\"/init\" subj=kernel key=\"sentinel-1\"";
        let record =
            Record { user: 60001, mark: 31, call: 110, arch: 0xc000_003e, key: "sentinel-1" };
        assert_eq!(Record::parse(text), Some(record));
        assert_eq!(Record::parse("audit(1.2:3): nothing"), None);
    }
}
