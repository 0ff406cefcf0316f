//! Audit rules and audit's state: read, and put back.

use std::io;

use hardcost_linux::audit_daemon::{audit_is_absent, refusal_reason};
use hardcost_linux::netlink::{Netlink, RULE};

use crate::changes::audit_settings::AuditSettings;
use crate::failure::{Failure, Result};

/// The kernel-side buffer of the socket, in bytes; a list of thousands of rules fits.
const BUFFER: usize = 64 << 20;
const LOCKED: u32 = 2;

/// Opens a connection to the kernel's audit.
pub fn open() -> Result<Netlink> {
    Netlink::open(BUFFER).map_err(|error| explain(&error))
}

/// Adds to the kernel's error what it means.
pub fn explain(error: &io::Error) -> Failure {
    let words = format!("{}: {error}", refusal_reason(error));
    if audit_is_absent(error) { Failure::Refused(words) } else { Failure::Failed(words) }
}

/// Refuses if audit's state is locked.
pub fn check_unlocked() -> Result<()> {
    if settings()?.enabled == LOCKED {
        return Err(Failure::Refused(
            "audit's rules are locked (-e 2) until the next boot: none can be loaded".into(),
        ));
    }
    Ok(())
}

/// The current settings.
pub fn settings() -> Result<AuditSettings> {
    AuditSettings::read(&mut open()?).map_err(|error| explain(&error))
}

/// All rules, as the kernel lists them, concatenated.
pub fn rules() -> Result<Vec<u8>> {
    Ok(open()?.list().map_err(|error| explain(&error))?.concat())
}

/// Replaces the kernel's rules by these, in this order.
pub fn put_rules(wanted: &[u8]) -> Result<()> {
    let mut audit = open()?;
    let held = audit.list().map_err(|error| explain(&error))?;
    for rule in &held {
        audit.delete(rule).map_err(|error| explain(&error))?;
    }
    let mut failed = None;
    for rule in split(wanted)? {
        // The other rules have to be loaded all the same.
        failed = audit.add(rule).err().or(failed);
    }
    failed.map_or(Ok(()), |error| Err(explain(&error)))
}

/// The number of rules in such a list.
pub fn count(rules: &[u8]) -> usize {
    split(rules).map_or(0, |rules| rules.len())
}

/// Splits a list into rules: each ends with its texts, whose length is just before them.
fn split(mut list: &[u8]) -> Result<Vec<&[u8]>> {
    let wrong = || Failure::Failed("a list of audit rules ends within one".into());
    let mut rules = Vec::new();
    while !list.is_empty() {
        let length = list.get(RULE - 4..RULE).and_then(<[u8]>::first_chunk).ok_or_else(wrong)?;
        let length = RULE + u32::from_ne_bytes(*length) as usize;
        let (rule, rest) = list.split_at_checked(length).ok_or_else(wrong)?;
        rules.push(rule);
        list = rest;
    }
    Ok(rules)
}

/// Audit's state, one setting a line.
pub fn state() -> Result<Vec<u8>> {
    let AuditSettings { enabled, failure, rate_limit, backlog_limit, backlog_wait_time } =
        settings()?;
    let text = format!(
        "enabled {enabled}\nfailure {failure}\nrate_limit {rate_limit}\n\
         backlog_limit {backlog_limit}\nbacklog_wait_time {backlog_wait_time}\n"
    );
    Ok(text.into_bytes())
}

/// Sets audit's state.
pub fn put_state(wanted: &[u8]) -> Result<()> {
    let settings = parse(wanted)
        .ok_or_else(|| Failure::Failed("the journal has another state of audit".into()))?;
    settings.put(&mut open()?).map_err(|error| explain(&error))
}

fn parse(text: &[u8]) -> Option<AuditSettings> {
    let text = std::str::from_utf8(text).ok()?;
    let number = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line?.parse().ok()
    };
    Some(AuditSettings {
        enabled: number("enabled")?,
        failure: number("failure")?,
        rate_limit: number("rate_limit")?,
        backlog_limit: number("backlog_limit")?,
        backlog_wait_time: number("backlog_wait_time")?,
    })
}

#[cfg(test)]
mod tests {
    use hardcost_linux::netlink::RULE;

    use super::{count, parse, split};

    #[test]
    fn a_list_is_split_where_the_texts_of_each_rule_end() {
        let rule = |texts: &[u8]| {
            let mut rule = vec![0; RULE];
            rule[RULE - 4] = u8::try_from(texts.len()).unwrap();
            rule.extend(texts);
            rule
        };
        let list = [rule(b"/etc/x"), rule(b""), rule(b"key")];
        assert_eq!(split(&list.concat()).unwrap(), list);
        assert_eq!(count(&list.concat()), 3);
        assert!(split(&list.concat()[1..]).is_err());
    }

    #[test]
    fn a_state_is_read_by_its_names() {
        let text = b"enabled 1\nfailure 2\nrate_limit 3\nbacklog_limit 4\nbacklog_wait_time 5\n";
        let state = parse(text).unwrap();
        assert_eq!((state.enabled, state.failure, state.backlog_wait_time), (1, 2, 5));
        assert_eq!(parse(b"enabled 1\n"), None);
    }
}
