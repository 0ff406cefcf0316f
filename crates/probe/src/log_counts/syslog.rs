//! A syslog file: audit records that auditd's plug-in sent, and messages that rsyslog dropped.

use crate::error::Result;
use crate::log_counts::log_files::{LogCounts, after, each_line, has, without_node};

/// The plug-in that sends records to syslog, each behind a colon.
const PLUGIN: &str = "audisp-syslog";
/// A record that only ends an event. auditd does not write it to its own log.
const END: &[u8] = b"type=EOE ";

/// Counts a log. Numbers: `audit`, the records; `limited`, the messages that rsyslog's rate limit
/// dropped; `beginnings`, how often it began to drop. Without a log there are none.
pub fn count(path: &str) -> Result<LogCounts> {
    let (mut audit, mut limited, mut beginnings) = (0, 0_u64, 0);
    let size = each_line(path, |line| {
        audit += u64::from(is_record(line));
        limited = limited.saturating_add(lost(line).unwrap_or(0));
        beginnings += u64::from(has(line, "begin to drop messages"));
    })?;
    let numbers = [("audit", audit), ("limited", limited), ("beginnings", beginnings)];
    let numbers = size.map_or_else(Default::default, |_| numbers.into());
    Ok(LogCounts { numbers, ..LogCounts::default() })
}

/// Whether a line is a record that auditd also wrote.
fn is_record(line: &[u8]) -> bool {
    let record = after(line, PLUGIN).and_then(|rest| after(rest, ": ")).map(without_node);
    record.is_some_and(|record| record.starts_with(b"type=") && !record.starts_with(END))
}

/// How many messages were lost, by a line: `… N messages lost due to rate-limiting`.
fn lost(line: &[u8]) -> Option<u64> {
    let end = memchr::memmem::find(line, b" messages lost due to rate-limiting")?;
    let start = line[..end].iter().rposition(|byte| !byte.is_ascii_digit())? + 1;
    std::str::from_utf8(&line[start..end]).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::count;
    use crate::log_counts::log_files::tests::Sample;

    #[test]
    fn records_of_the_plug_in_and_what_was_dropped_are_counted() {
        let log = Sample::new(
            "t h audisp-syslog[7]: type=SYSCALL msg=audit(1.0:1): x\n\
             t h audisp-syslog: node=web1 type=CWD msg=audit(1.0:1): x\n\
             t h audisp-syslog: type=EOE msg=audit(1.0:1): \n\
             t h other: type=CWD x\n\
             t h rsyslogd: imuxsock[pid 1]: begin to drop messages due to rate-limiting\n\
             t h rsyslogd: imuxsock: 12 messages lost due to rate-limiting (20 allowed)\n\
             t h rsyslogd: imuxsock: 30 messages lost due to rate-limiting\n",
        );
        let numbers = count(&log.path()).expect("there").numbers;
        assert_eq!((numbers["audit"], numbers["limited"], numbers["beginnings"]), (2, 42, 1));
        assert!(count("/no/such/log").expect("no error").numbers.is_empty());
    }
}
