//! The system calls that can be measured.
//!
//! Each is a type that implements [`Call`](crate::call::Call); [`ALL`] lists them. If a name stands
//! for more than one system call, or for another one, the type's comment names these. An operation
//! allocates nothing, and calls no library. How often it is done, and when, is decided elsewhere:
//! in `src/window.rs`, `src/window_start.rs` and the probe's `measure/calls.rs`.
//!
//! - `basic.rs`: null, read, write
//! - `files.rs`: one existing file, mostly by path: stat, open, access, chmod, chown, setxattr
//! - `directory_entries.rs`: creat, rename, link, mkdir
//! - `processes.rs`: fork, exec
//! - `address_space.rs`: mmap, page faults
//! - `round_trips.rs`: pipe, unix, context switch, with a second process
//! - `sockets.rs`: connect, bind, accept; `select.rs`: select on ten pipes
//! - `signal.rs`: a signal's delivery
//! - `hardening.rs`: what hardening restricts (ptrace, mount, bpf, userns), and which refusals
//!   count
//! - `fixtures.rs`: makes the file that calls need, again until its inode number fits
//! - `partner_process.rs`: the second process of calls that need two

mod address_space;
mod basic;
mod directory_entries;
mod files;
mod fixtures;
mod hardening;
mod partner_process;
mod processes;
mod round_trips;
mod select;
mod signal;
mod sockets;

use crate::named_call::NamedCall;

/// All calls, in the order in which they are listed.
const ALL: &[NamedCall] = &[
    NamedCall::of::<basic::Null>("null"),
    NamedCall::of::<basic::Read>("read"),
    NamedCall::of::<basic::Write>("write"),
    NamedCall::of::<files::Stat>("stat"),
    NamedCall::of::<files::Fstat>("fstat"),
    NamedCall::of::<files::Open>("open"),
    NamedCall::of::<files::Access>("access"),
    NamedCall::of::<files::Lseek>("lseek"),
    NamedCall::of::<address_space::Mmap>("mmap"),
    NamedCall::of::<address_space::PageFault>("page-fault"),
    NamedCall::of::<round_trips::Pipe>("pipe"),
    NamedCall::of::<round_trips::Unix>("unix"),
    NamedCall::of::<select::Select>("select"),
    NamedCall::of::<signal::Signal>("signal"),
    NamedCall::of::<round_trips::ContextSwitch>("context-switch"),
    NamedCall::of::<processes::Fork>("fork"),
    NamedCall::of::<processes::Exec>("exec"),
    NamedCall::of::<directory_entries::Creat>("creat"),
    NamedCall::of::<directory_entries::Rename>("rename"),
    NamedCall::of::<directory_entries::Link>("link"),
    NamedCall::of::<directory_entries::Mkdir>("mkdir"),
    NamedCall::of::<files::Chmod>("chmod"),
    NamedCall::of::<files::Chown>("chown"),
    NamedCall::of::<files::Utimensat>("utimensat"),
    NamedCall::of::<files::Setxattr>("setxattr"),
    NamedCall::of::<sockets::Connect>("connect"),
    NamedCall::of::<sockets::Bind>("bind"),
    NamedCall::of::<sockets::Accept>("accept"),
    NamedCall::of::<hardening::MmapExec>("mmap-exec"),
    NamedCall::of::<hardening::Setuid>("setuid"),
    NamedCall::of::<hardening::Ptrace>("ptrace"),
    NamedCall::of::<hardening::Userns>("userns"),
    NamedCall::of::<hardening::Module>("module"),
    NamedCall::of::<hardening::Mount>("mount"),
    NamedCall::of::<hardening::Bpf>("bpf"),
    NamedCall::of::<hardening::Userfaultfd>("userfaultfd"),
    NamedCall::of::<hardening::Syslog>("syslog"),
    NamedCall::of::<hardening::Follow>("follow"),
];

/// The names of all calls, in that order.
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
pub fn find(name: &str) -> Option<&'static NamedCall> {
    ALL.iter().find(|call| call.name == name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{NAMES, find};

    #[test]
    fn each_name_is_there_once() {
        assert_eq!(BTreeSet::from(NAMES).len(), NAMES.len());
        assert!(NAMES.iter().all(|name| find(name).is_some_and(|call| call.name == *name)));
        assert!(find("sleep").is_none());
    }
}
