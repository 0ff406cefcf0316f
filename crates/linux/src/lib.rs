//! What Linux offers, and no library that we use has: the audit subsystem's netlink messages and
//! being its daemon, the system log, the kernel's own memory, system calls by both of its entries,
//! mount options by their names; and what is made for audit rules to watch.

pub mod daemon;
pub mod gate;
pub mod kcore;
pub mod made;
pub mod mounts;
pub mod netlink;
pub mod syslog;
