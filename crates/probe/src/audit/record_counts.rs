//! Counts of SYSCALL records, by key.
//!
//! A record is text: `audit(1767225600.000:7): arch=c000003e syscall=90 … ses=1 comm="x" exe="/x"
//! subj=unconfined key="perm_mod"`. Values with a space, a quote or a control character are in hex,
//! without quotes, so a process can't forge a field by its name.

use std::collections::BTreeMap;

use hardcost_linux::netlink::{Message, SYSCALL};

use crate::protocol::AuditCounts;

/// Separates the keys of a rule with several.
const SEPARATOR: u8 = 1;
/// The session of a process without a login.
const UNSET: u32 = u32::MAX;

/// The records of one audit session.
///
/// A session begins when a process sets its login user, and contains all its descendants. So it
/// distinguishes one process tree from all others.
#[derive(Debug, Default)]
pub struct RecordCounts {
    session: Option<u32>,
    records: u64,
    by_key: BTreeMap<String, u64>,
}

impl RecordCounts {
    /// No records yet of a session; `None`: of processes without one.
    pub fn of(session: Option<u32>) -> Self {
        Self { session, ..Self::default() }
    }

    /// Counts a record if it is a system call's.
    pub fn take(&mut self, record: &Message<'_>) {
        if record.kind == SYSCALL {
            self.add(record.payload);
        }
    }

    /// Counts a SYSCALL record if it is of the session.
    fn add(&mut self, record: &[u8]) {
        let record = String::from_utf8_lossy(record);
        let session = field(&record, "ses").and_then(|text| text.parse().ok());
        if session != Some(self.session.unwrap_or(UNSET)) {
            return;
        }
        self.records += 1;
        for key in keys(&record) {
            *self.by_key.entry(key).or_default() += 1;
        }
    }

    /// The counts as they are reported.
    pub fn into_answer(self, lost: u32) -> AuditCounts {
        AuditCounts { records: self.records, lost, by_key: self.by_key }
    }
}

/// The last field of that name in a record, unparsed.
fn field<'a>(record: &'a str, name: &str) -> Option<&'a str> {
    let words = record.trim_end_matches(['\0', '\n']).rsplit(' ');
    words
        .filter_map(|word| word.split_once('='))
        .find(|&(found, _)| found == name)
        .map(|(_, value)| value)
}

/// The keys of a record; an empty one if it has none.
fn keys(record: &str) -> Vec<String> {
    let written = field(record, "key").unwrap_or("(null)");
    let key = match written.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(plain) => plain.as_bytes().to_vec(),
        None => decode_hex(written).unwrap_or_default(),
    };
    key.split(|&byte| byte == SEPARATOR)
        .map(|key| String::from_utf8_lossy(key).into_owned())
        .collect()
}

/// The bytes of hex digits; `None` if they are none.
fn decode_hex(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().chunks_exact(2);
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let byte = |pair: &[u8]| u8::try_from((digit(pair[0])? << 4) | digit(pair[1])?).ok();
    pairs.remainder().is_empty().then(|| pairs.map(byte).collect())?
}

#[cfg(test)]
mod tests {
    use super::{RecordCounts, keys};

    fn record(session: u32, key: &str) -> String {
        format!(
            "audit(1767225600.123:45): arch=c000003e syscall=90 success=yes exit=0 a0=4b3c a1=1a4 \
             items=1 ppid=1 pid=77 auid=1000 uid=1000 tty=(none) ses={session} comm=\"exe\" \
             exe=\"/init\" subj=unconfined key={key}"
        )
    }

    #[test]
    fn a_key_is_quoted_or_hex_or_missing() {
        assert_eq!(keys(&record(1, "\"perm_mod\"")), ["perm_mod"]);
        assert_eq!(keys(&record(1, "7065726D206D6F64")), ["perm mod"]);
        assert_eq!(keys(&record(1, "(null)")), [""]);
        assert_eq!(keys("audit(1.0:1): arch=c000003e syscall=90 ses=1"), [""]);
    }

    #[test]
    fn each_of_several_keys_is_found() {
        assert_eq!(keys(&record(1, "6F6E650174776F")), ["one", "two"]);
    }

    #[test]
    fn a_record_may_end_in_a_terminator() {
        assert_eq!(keys(&(record(1, "\"k\"") + "\0")), ["k"]);
    }

    #[test]
    fn only_records_of_the_session_count() {
        let mut counts = RecordCounts::of(Some(3));
        for (session, key) in [(3, "\"a\""), (4, "\"a\""), (3, "61016201"), (u32::MAX, "\"b\"")] {
            counts.add(record(session, key).as_bytes());
        }
        counts.add(b"not a record");
        let answer = counts.into_answer(2);
        assert_eq!((answer.records, answer.lost), (2, 2));
        let by_key: Vec<_> = answer.by_key.into_iter().collect();
        assert_eq!(by_key, [(String::new(), 1), ("a".into(), 2), ("b".into(), 1)]);
    }

    #[test]
    fn without_a_session_the_records_of_such_processes_count() {
        let mut counts = RecordCounts::of(None);
        counts.add(record(u32::MAX, "(null)").as_bytes());
        counts.add(record(1, "(null)").as_bytes());
        assert_eq!(counts.into_answer(0).records, 1);
    }
}
