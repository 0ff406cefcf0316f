//! What Linux offers to those who watch its audit, and no library that we use has: the audit
//! subsystem's netlink messages and being its daemon, the system log, the kernel's own memory, and
//! system calls by both of its entries.

pub mod daemon;
pub mod gate;
pub mod kcore;
pub mod netlink;
pub mod syslog;
