//! Denials of a security module, in the kernel's log and in auditd's.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;

use rustix::io::Errno;

use crate::error::{Context, Result};
use crate::log_counts::log_files::{LogCounts, each_line, has, rotated};

/// The kernel's log, one record at each read.
const KERNEL: &str = "/dev/kmsg";
/// More bytes than the longest record has.
const RECORD: usize = 8 << 10;
/// How a denial begins: `SELinux`'s and `AppArmor`'s.
const BEGINNINGS: [&str; 2] = ["avc:  denied ", "apparmor=\"DENIED\""];
/// Fields that differ from trial to trial.
const PASSING: [&str; 3] = [" pid=", " ino=", " ppid="];
/// Begins what auditd adds to a record.
const ADDED: u8 = 0x1d;
/// How many kinds of denials are reported: the most frequent.
const MOST: usize = 100;

/// Counts the denials of each kind in the kernel's log, and in auditd's log if there is one.
pub fn count(path: &str) -> Result<LogCounts> {
    let mut kinds = BTreeMap::new();
    each_of_kernel(|line| take(line, &mut kinds)).context(|| KERNEL.into())?;
    for file in rotated(path) {
        each_line(&file, |line| take(line, &mut kinds))?;
    }
    let name = |kind: Vec<u8>| String::from_utf8_lossy(&kind).into_owned();
    let texts = most(kinds).into_iter().map(|(kind, number)| (name(kind), number)).collect();
    Ok(LogCounts { texts, ..LogCounts::default() })
}

/// The most frequent kinds.
fn most(kinds: BTreeMap<Vec<u8>, u64>) -> Vec<(Vec<u8>, u64)> {
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    kinds.sort_by_key(|&(_, number)| std::cmp::Reverse(number));
    kinds.truncate(MOST);
    kinds
}

/// Counts a line if it is a denial.
fn take(line: &[u8], kinds: &mut BTreeMap<Vec<u8>, u64>) {
    let starts = BEGINNINGS.iter().filter_map(|text| memchr::memmem::find(line, text.as_bytes()));
    if let Some(start) = starts.min() {
        *kinds.entry(kind(&line[start..])).or_default() += 1;
    }
}

/// A denial without the fields that differ.
fn kind(denial: &[u8]) -> Vec<u8> {
    let denial = denial.split(|&byte| byte == ADDED).next().unwrap_or_default();
    let words = denial.split_inclusive(|&byte| byte == b' ');
    let mut kept: Vec<u8> = Vec::new();
    for word in words {
        let passing = kept.ends_with(b" ") && PASSING.iter().any(|name| begins(word, &name[1..]));
        if passing {
            kept.pop();
            if word.ends_with(b" ") {
                kept.push(b' ');
            }
        } else {
            kept.extend(word);
        }
    }
    kept
}

fn begins(word: &[u8], text: &str) -> bool {
    word.starts_with(text.as_bytes()) && has(word, "=")
}

/// Calls `take` with the text of each record in the kernel's log.
fn each_of_kernel(mut take: impl FnMut(&[u8])) -> io::Result<()> {
    let mut log = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(KERNEL)?;
    let mut record = [0; RECORD];
    loop {
        match log.read(&mut record) {
            Ok(0) => return Ok(()),
            // PRIORITY,NUMBER,TIME,FLAGS;TEXT
            Ok(length) => {
                let line = record[..length].split(|&byte| byte == b'\n').next().unwrap_or_default();
                take(line.splitn(2, |&byte| byte == b';').nth(1).unwrap_or_default());
            }
            Err(error) => match Errno::from_io_error(&error) {
                Some(Errno::AGAIN) => return Ok(()),
                // The oldest record has just been overwritten; the next read continues.
                Some(Errno::PIPE | Errno::INTR) => {}
                _ => return Err(error),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{MOST, most, take};

    fn counted(lines: &[&str]) -> Vec<(String, u64)> {
        let mut kinds = BTreeMap::new();
        for line in lines {
            take(line.as_bytes(), &mut kinds);
        }
        let text = |kind| String::from_utf8(kind).expect("it was text");
        most(kinds).into_iter().map(|(kind, number)| (text(kind), number)).collect()
    }

    #[test]
    fn denials_that_differ_in_what_passes_are_one_kind() {
        let denial = |pid, inode| {
            format!(
                "audit: type=1400 audit(1.2:{pid}): avc:  denied  {{ read }} for  pid={pid} \
                 comm=\"a\" name=\"b\" dev=\"vda\" ino={inode}"
            )
        };
        let kind = "avc:  denied  { read } for  comm=\"a\" name=\"b\" dev=\"vda\"";
        assert_eq!(counted(&[&denial(1, 2), &denial(3, 4)]), [(kind.to_owned(), 2)]);
    }

    #[test]
    fn apparmor_denials_count_and_what_auditd_adds_does_not() {
        let lines =
            ["x apparmor=\"DENIED\" pid=3 ppid=4 comm=\"c\"\x1dARCH=x", "apparmor=\"ALLOWED\""];
        assert_eq!(counted(&lines), [("apparmor=\"DENIED\" comm=\"c\"".to_owned(), 1)]);
    }

    #[test]
    fn the_most_frequent_kinds_are_kept() {
        let lines: Vec<_> = (0..MOST + 5).map(|one| format!("avc:  denied  {one}")).collect();
        let mut lines: Vec<_> = lines.iter().map(String::as_str).collect();
        lines.push("avc:  denied  104");
        let kinds = counted(&lines);
        assert_eq!((kinds.len(), kinds[0].clone()), (MOST, ("avc:  denied  104".to_owned(), 2)));
    }
}
