//! The measured process: it takes on a user's identity, and measures a system call or executes a
//! program.
//!
//! Its program has neither Rust's standard library nor the C library. `fork` copies the memory that
//! a process has touched, and no change of the probe may alter that. So nothing is added here that
//! the measured process itself does not need. The probe shares the library: the messages of
//! [`channel`], the clocks, and the names of the calls. The processor of a process, the number of
//! windows and the making of the working directory are decided in `crates/probe/src/measure`.
//!
//! - `run_task.rs`: the process from its start to its end
//! - `identity.rs`: takes on user, login and SELinux context, in which order
//! - `calls/`: the calls; `call.rs`: what each must be able to do
//! - `named_call.rs`: runs the windows of a call with either clock
//! - `window.rs`: one window: what is between two readings of the clock
//! - `window_start.rs`: when a window begins: the distance from a tick, attempts, the work until
//!   then
//! - `clock.rs`: the two clocks and their overhead; `cpu_time.rs`: processor time by `getrusage`
//! - `audit_inode_buckets.rs`: the buckets of measured files and directories, and how many tries;
//!   the loops that try are `create_file` in `calls/fixtures.rs`, and `WorkDirectory` in the
//!   probe's `measure/measured_process.rs`
//! - `execvpe.rs`: finds a program in `PATH` and executes it
//! - `messages.rs`: what probe and process send each other, `wire_format.rs` in which bytes,
//!   `channel.rs` by which socket, and the longest
//! - `raw_syscalls.rs`: system calls without the C library; `allocator.rs`: memory without it
//! - `planted_cost.rs`: a known cost for a benchmark; no shipped program has it

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
