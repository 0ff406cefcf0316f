//! The kernel's interfaces that the stress uses: audit's messages, rules and records, system calls
//! by either entry, `io_uring`, failing allocations, and what the kernel counts.
//!
//! Nothing here decides what is tried, or whether an answer is a fault.

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
