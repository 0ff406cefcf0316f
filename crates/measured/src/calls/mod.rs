//! The system calls that can be measured.
//!
//! Each is a type that implements [`Call`](crate::call::Call); [`ALL`] lists them. Where a name stands
//! for more than one system call, or for another than the one of that name, its type says so.

mod basic;
mod exchange;
mod files;
mod make;
mod memory;
mod names;
mod network;
mod partner;
mod process;
mod reach;
mod select;
mod signal;

use crate::entry::Entry;

/// Everything that can be measured, in the order in which it is listed.
const ALL: &[Entry] = &[
    Entry::of::<basic::Null>("null"),
    Entry::of::<basic::Read>("read"),
    Entry::of::<basic::Write>("write"),
    Entry::of::<files::Stat>("stat"),
    Entry::of::<files::Fstat>("fstat"),
    Entry::of::<files::Open>("open"),
    Entry::of::<files::Access>("access"),
    Entry::of::<files::Lseek>("lseek"),
    Entry::of::<memory::Mmap>("mmap"),
    Entry::of::<memory::PageFault>("page-fault"),
    Entry::of::<exchange::Pipe>("pipe"),
    Entry::of::<exchange::Unix>("unix"),
    Entry::of::<select::Select>("select"),
    Entry::of::<signal::Signal>("signal"),
    Entry::of::<exchange::ContextSwitch>("context-switch"),
    Entry::of::<process::Fork>("fork"),
    Entry::of::<process::Exec>("exec"),
    Entry::of::<names::Creat>("creat"),
    Entry::of::<names::Rename>("rename"),
    Entry::of::<names::Link>("link"),
    Entry::of::<names::Mkdir>("mkdir"),
    Entry::of::<files::Chmod>("chmod"),
    Entry::of::<files::Chown>("chown"),
    Entry::of::<files::Utimensat>("utimensat"),
    Entry::of::<files::Setxattr>("setxattr"),
    Entry::of::<network::Connect>("connect"),
    Entry::of::<network::Bind>("bind"),
    Entry::of::<network::Accept>("accept"),
    Entry::of::<reach::MmapExec>("mmap-exec"),
    Entry::of::<reach::Setuid>("setuid"),
    Entry::of::<reach::Ptrace>("ptrace"),
    Entry::of::<reach::Userns>("userns"),
    Entry::of::<reach::Module>("module"),
    Entry::of::<reach::Mount>("mount"),
    Entry::of::<reach::Bpf>("bpf"),
    Entry::of::<reach::Userfaultfd>("userfaultfd"),
    Entry::of::<reach::Syslog>("syslog"),
    Entry::of::<reach::Follow>("follow"),
];

/// The names of all that can be measured, in that order.
pub const NAMES: [&str; ALL.len()] = {
    let mut names = [""; ALL.len()];
    let mut at = 0;
    while at < ALL.len() {
        names[at] = ALL[at].name;
        at += 1;
    }
    names
};

/// The call of that name.
pub fn find(name: &str) -> Option<&'static Entry> {
    ALL.iter().find(|entry| entry.name == name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{NAMES, find};

    #[test]
    fn each_name_is_there_once() {
        assert_eq!(BTreeSet::from(NAMES).len(), NAMES.len());
        assert!(NAMES.iter().all(|name| find(name).is_some_and(|entry| entry.name == *name)));
        assert!(find("sleep").is_none());
    }
}
