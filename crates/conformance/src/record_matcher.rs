//! Which call an audit record belongs to.
//!
//! A record's text begins with `audit(1767225600.000:7): `, whose last number is the same in all
//! records of one event. The record of a call continues `arch=c000003e syscall=257 success=yes
//! exit=3 a0=… a1=… a2=… a3=… items=1 … key="k"`.

use std::collections::{BTreeMap, HashMap};

use hardcost_linux::netlink::SYSCALL;

use crate::argument_memory::CallSignature;
use crate::audit_daemon::Record;
use crate::job::Arch;

const ARCHES: [(&str, Arch); 2] = [("c000003e", Arch::B64), ("40000003", Arch::B32)];

/// Finds calls by the signatures in their records.
pub struct RecordMatcher {
    calls: HashMap<CallSignature, usize>,
}

impl RecordMatcher {
    /// Takes the call of each signature.
    pub fn new(calls: HashMap<CallSignature, usize>) -> Self {
        Self { calls }
    }

    /// The call that a SYSCALL record belongs to; `None` for anything else that workers do.
    pub fn call(&self, record: &Record) -> Option<usize> {
        if record.kind != SYSCALL {
            return None;
        }
        self.calls.get(&signature(&record.text)?).copied()
    }

    /// All records of each call's event, in their order, with their kinds.
    pub fn events(&self, kept: &[Record]) -> BTreeMap<usize, Vec<(u16, String)>> {
        let calls: HashMap<&str, usize> = kept
            .iter()
            .filter_map(|record| Some((serial(&record.text)?, self.call(record)?)))
            .collect();
        let mut events: BTreeMap<usize, Vec<(u16, String)>> = BTreeMap::new();
        for record in kept {
            if let Some(&call) = serial(&record.text).and_then(|serial| calls.get(serial)) {
                let text = record.text.split_once("): ").map_or("", |(_, rest)| rest);
                events.entry(call).or_default().push((record.kind, text.to_owned()));
            }
        }
        events
    }

    /// The kinds of all records of each call's event, in their order.
    pub fn kinds(&self, kept: &[Record]) -> Vec<(usize, Vec<u16>)> {
        let kinds_of =
            |records: Vec<(u16, String)>| records.iter().map(|&(kind, _)| kind).collect();
        self.events(kept).into_iter().map(|(call, records)| (call, kinds_of(records))).collect()
    }
}

/// The number that all records of an event share.
fn serial(text: &str) -> Option<&str> {
    text.split_once(':')?.1.split_once(')').map(|(serial, _)| serial)
}

/// The signature of the call in a SYSCALL record.
fn signature(text: &str) -> Option<CallSignature> {
    let mut arch = None;
    let mut number = None;
    let mut arguments = [0; 4];
    for word in text.split(' ').skip(1) {
        let (name, value) = word.split_once('=')?;
        let mut argument = |index: usize| -> Option<()> {
            arguments[index] = u64::from_str_radix(value, 16).ok()?;
            Some(())
        };
        match name {
            "arch" => arch = ARCHES.iter().find(|(name, _)| *name == value).map(|&(_, arch)| arch),
            "syscall" => number = value.parse().ok(),
            "a0" => argument(0)?,
            "a1" => argument(1)?,
            "a2" => argument(2)?,
            "a3" => {
                argument(3)?;
                return Some((arch?, number?, arguments));
            }
            _ => {}
        }
    }
    None
}

/// The key of a SYSCALL record, as it is written there.
pub fn syscall_key(record: &Record) -> &str {
    record.text.rsplit_once(" key=").map_or("(null)", |(_, key)| key)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::{Arch, Record, RecordMatcher, SYSCALL, syscall_key};

    fn record(kind: u16, text: &str) -> Record {
        Record { kind, text: text.into() }
    }

    const CALL: &str = "audit(1767225600.000:7): arch=c000003e syscall=257 per=8 success=no exit=-2 \
        a0=ffffffffffffff9c a1=20000010 a2=0 a3=1f items=1 ppid=1 pid=501 comm=\"a3=0\" key=6101";

    #[test]
    fn records_of_an_event_go_to_its_call() {
        let signature = (Arch::B64, 257, [0xffff_ffff_ffff_ff9c, 0x2000_0010, 0, 0x1f]);
        let matcher = RecordMatcher::new(HashMap::from([(signature, 3)]));
        let other = CALL.replace("a2=0", "a2=1").replace(":7)", ":8)");
        let kept = [
            record(SYSCALL, CALL),
            record(1302, "audit(1767225600.000:7): item=0"),
            record(SYSCALL, &other),
            record(1302, "audit(1767225600.000:8): item=0"),
        ];
        assert_eq!(kept.each_ref().map(|record| matcher.call(record)), [Some(3), None, None, None]);
        let events = matcher.events(&kept);
        assert_eq!(events.len(), 1);
        assert_eq!(events[&3][1], (1302, "item=0".into()));
        assert_eq!(syscall_key(&kept[0]), "6101");
    }
}
