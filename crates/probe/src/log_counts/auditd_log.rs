//! auditd's log: records, events, and events by key between two messages that hardcost writes.

use std::collections::{BTreeMap, HashSet};

use crate::error::{Error, Result};
use crate::log_counts::log_files::{LogCounts, after, each_line, has, rotated, without_node};

/// The messages around the workload. Without the first one, counting begins with the log.
const BEGIN: &str = "hardcost-begin";
const END: &str = "hardcost-end";
/// The key of events without one.
const NO_KEY: &str = "(none)";

/// An event's time, in milliseconds, and its number.
type Event = (u64, u64);

/// Counts a log with its older files.
///
/// Numbers: `records`, `events`, `bytes`, `files`, and `whole`, which is 1 if the log still has its
/// begin. Texts: the events of each key between the messages.
pub fn count(path: &str) -> Result<LogCounts> {
    let mut log = Log::default();
    let files = rotated(path);
    let mut bytes = 0;
    for file in &files {
        let size = each_line(file, |line| log.take(line))?;
        bytes += size.ok_or_else(|| Error::Other(format!("there is no {file}")))?;
    }
    let numbers = [
        ("records", log.records),
        ("events", log.events.len() as u64),
        ("bytes", bytes),
        ("files", files.len() as u64),
        ("whole", log.whole.into()),
    ];
    let name = |key: Vec<u8>| String::from_utf8_lossy(&key).into_owned();
    let texts = log.keys.into_iter().map(|(key, number)| (name(key), number)).collect();
    Ok(LogCounts { numbers: numbers.into(), texts })
}

/// The counts so far.
#[derive(Default)]
struct Log {
    records: u64,
    events: HashSet<Event>,
    whole: bool,
    /// Events by key since the last begin message, and whether an end message was the last.
    keys: BTreeMap<Vec<u8>, u64>,
    over: bool,
}

impl Log {
    /// Counts a line.
    fn take(&mut self, line: &[u8]) {
        self.records += 1;
        if let Some(event) = event(line) {
            self.events.insert(event);
        }
        let record = without_node(line);
        if record.starts_with(b"type=SYSCALL ") {
            if !self.over {
                *self.keys.entry(key(record)).or_default() += 1;
            }
        } else if record.starts_with(b"type=DAEMON_START ") {
            self.whole = true;
        } else if let Some(message) = after(line, " msg=") {
            if has(message, BEGIN) {
                self.keys.clear();
                self.over = false;
            } else if has(message, END) {
                self.over = true;
            }
        }
    }
}

/// A record's event: `msg=audit(SECONDS.MILLISECONDS:NUMBER)`.
fn event(line: &[u8]) -> Option<Event> {
    let stamp = after(line, "msg=audit(")?;
    let end = memchr::memchr(b')', stamp)?;
    let (when, number) = std::str::from_utf8(&stamp[..end]).ok()?.split_once(':')?;
    let (seconds, milliseconds) = when.split_once('.')?;
    let seconds: u64 = seconds.parse().ok()?;
    let when = seconds.checked_mul(1000)?.checked_add(milliseconds.parse().ok()?)?;
    Some((when, number.parse().ok()?))
}

/// The key of a system call's record: `key="…"`, or in hexadecimal digits.
fn key(record: &[u8]) -> Vec<u8> {
    let mut rest = record;
    while let Some(value) = after(rest, " key=") {
        let found = match value.strip_prefix(b"\"") {
            Some(quoted) => memchr::memchr(b'"', quoted).map(|end| &quoted[..end]),
            None => Some(value.split(|byte| !byte.is_ascii_hexdigit()).next().unwrap_or_default())
                .filter(|digits| !digits.is_empty()),
        };
        if let Some(key) = found {
            return key.to_vec();
        }
        rest = value;
    }
    NO_KEY.into()
}

#[cfg(test)]
mod tests {
    use super::{count, event, key};
    use crate::log_counts::log_files::tests::Sample;

    const CALL: &str = "type=SYSCALL msg=audit(1.000:";

    #[test]
    fn events_are_counted_by_key_between_the_messages() {
        let log = Sample::new(format!(
            "{CALL}1): a0=1 key=\"before\"\n\
                 type=USER msg=audit(1.000:2): msg='text=hardcost-begin exe=x'\n\
                 {CALL}3): key=\"b\"\n\
                 type=PATH msg=audit(1.000:3): name=\"key=\"\n\
                 {CALL}4): key=\"b\"\x1dARCH=x86_64\n\
                 {CALL}5): key=(null)\n\
                 node=web1 {CALL}6): key=6162\x1dx\n\
                 type=USER msg=audit(1.000:7): msg='text=hardcost-end exe=x'\n\
                 {CALL}8): key=\"after\"\n"
        ));
        let tally = count(&log.path()).expect("there");
        let keys: Vec<_> =
            tally.texts.iter().map(|(key, number)| (key.as_str(), *number)).collect();
        assert_eq!(keys, [("(none)", 1), ("6162", 1), ("b", 2)]);
        assert_eq!(tally.numbers["records"], 9);
        assert_eq!(tally.numbers["events"], 8);
        assert_eq!(tally.numbers["whole"], 0);
    }

    #[test]
    fn older_files_belong_to_the_log() {
        let (call, start) =
            (format!("{CALL}2): key=\"b\"\n"), "type=DAEMON_START msg=audit(1.0:1): \n");
        let log = Sample::new(&call);
        log.older(1, start);
        let tally = count(&log.path()).expect("there");
        assert_eq!((tally.numbers["files"], tally.numbers["whole"]), (2, 1));
        assert_eq!((tally.numbers["records"], tally.numbers["events"]), (2, 2));
        assert_eq!(tally.numbers["bytes"], (call.len() + start.len()) as u64);
        assert_eq!(tally.texts["b"], 1);
        assert!(count("/no/such/log").is_err());
    }

    #[test]
    fn a_message_begins_again_what_the_one_before_began() {
        let mark = |text| format!("type=USER msg=audit(1.000:2): msg='text=hardcost-{text}'\n");
        let call = format!("{CALL}1): key=\"k\"\n");
        let lines = [call.clone(), mark("end"), call.clone(), mark("begin"), call.repeat(2)];
        let log = Sample::new(lines.concat());
        assert_eq!(count(&log.path()).expect("there").texts["k"], 2);
    }

    #[test]
    fn a_stamp_and_a_key_that_are_none_are_left() {
        assert_eq!(event(b"type=CWD msg=audit(12.345:67): x"), Some((12_345, 67)));
        assert_eq!(event(b"type=CWD msg=audit(12:67): x"), None);
        assert_eq!(event(b"type=CWD msg=audit(99999999999999999999.0:1): x"), None);
        assert_eq!(event(b"msg=audit(\xff.1:1)"), None);
        assert_eq!(key(b"x key=\"a b"), b"(none)");
        assert_eq!(key(b"x key=(null) key=\"b\""), b"b");
        assert_eq!(key(b"x key=\"\""), b"");
    }
}
