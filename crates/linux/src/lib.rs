//! What Linux offers to those who watch its audit, and no library that we use has: the audit
//! subsystem's netlink messages, the kernel's own memory, and system calls by both of its entries.

pub mod gate;
pub mod kcore;
pub mod netlink;
