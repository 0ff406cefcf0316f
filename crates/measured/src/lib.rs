//! The measured process: it takes on a user's identity, and measures a system call or executes a
//! program.
//!
//! Its program has neither Rust's standard library nor the C library. `fork` copies the memory that
//! a process has touched, and no change of the probe may alter that. So nothing is added here that
//! the measured process itself does not need. The probe shares the library: the messages of
//! [`channel`], the clocks, and the names of the calls.
//!
//! `run_task` is the process from its start to its end. `calls` has the calls, and `call` is what
//! each of them must be able to do; `named_call` runs the windows of one. `window` is a window, and
//! `window_start` the moment when each begins. `messages` says what probe and process send each
//! other, `wire_format` in which bytes, `channel` by which socket.

#![cfg_attr(not(test), no_std)]
// Only `caller` uses what the feature makes public.
#![cfg_attr(feature = "caller", allow(clippy::missing_errors_doc, clippy::must_use_candidate))]
// A test has nothing to look after while it waits.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

extern crate alloc;

pub mod audit_inode_buckets;
#[cfg(not(feature = "caller"))]
mod call;
#[cfg(feature = "caller")]
pub mod call;
#[cfg(not(feature = "caller"))]
mod calls;
#[cfg(feature = "caller")]
pub mod calls;
pub mod channel;
pub mod clock;
pub mod cpu_time;
mod execvpe;
mod identity;
mod messages;
#[cfg(not(feature = "caller"))]
mod named_call;
#[cfg(feature = "caller")]
pub mod named_call;
#[cfg(feature = "planted")]
mod planted_cost;
pub mod raw_syscalls;
pub mod run_task;
mod window;
pub mod window_start;
mod wire_format;

pub use calls::NAMES;
