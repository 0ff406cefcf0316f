//! The kernel's interfaces that the stress uses: audit's messages, rules and records, system calls
//! by either entry, `io_uring`, failing allocations, and what the kernel counts.
//!
//! Nothing here decides what is tried, or whether an answer is a fault.
//!
//! - `netlink.rs`: the sockets to audit: room, backlog limit, how long the kernel may take
//! - `rule.rs`: a rule as the kernel takes it, with the numbers of fields, lists and operators
//! - `record.rs`: a record of a call; `counters.rs`: counts of rules, the index, leaked memory
//! - `syscalls.rs`: the numbers of calls, and calls by either entry; which are made is decided in
//!   `processes/random_callers.rs` and `processes/numbered_callers.rs`
//! - `io_uring.rs`: opens files by `io_uring`; `fault_injection.rs`: allocations that fail

pub mod counters;
pub mod fault_injection;
pub mod io_uring;
pub mod netlink;
pub mod record;
pub mod rule;
pub mod syscalls;

use std::io;

/// Whether an error is one of these.
pub fn is_errno(error: &io::Error, numbers: &[i32]) -> bool {
    error.raw_os_error().is_some_and(|number| numbers.contains(&number))
}
