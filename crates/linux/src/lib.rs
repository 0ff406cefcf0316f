//! Interfaces of Linux that no library in use here offers, for the other crates.
//!
//! Nothing in it decides what to measure or to change, and nothing in it prints.
//!
//! - `netlink.rs`: audit's messages: rules, settings, state, records; how long the kernel may take
//! - `audit_daemon.rs`: a process that receives all records: its buffer, and when no more are to
//!   come
//! - `rule_paths.rs`: makes the directories and files that rules name
//! - `system_log.rs`: `/dev/log`, to which auditctl complains
//! - `kcore.rs`: variables of the kernel, read from its memory
//! - `mount_options.rs`: mount options as names and flags
//! - `parallel_clock.rs`: the clock of several emulated processors, which the probe keeps
//! - `syscall_entry.rs`: calls by `syscall` and by `int 0x80`
//!
//! auditctl itself is run by `crates/probe/src/audit/auditctl.rs`.

pub mod audit_daemon;
pub mod kcore;
pub mod mount_options;
pub mod netlink;
pub mod parallel_clock;
pub mod rule_paths;
pub mod syscall_entry;
pub mod system_log;
