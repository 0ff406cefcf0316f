//! Interfaces of Linux that no library in use here offers, for the other crates.
//!
//! Nothing in it decides what to measure or to change, and nothing in it prints.

pub mod audit_daemon;
pub mod kcore;
pub mod mount_options;
pub mod netlink;
pub mod rule_paths;
pub mod syscall_entry;
pub mod system_log;
