//! The process that is measured: it takes on a user's identity, and measures a system call or
//! becomes a program.
//!
//! The program is one of its own, without Rust's standard library and the C library: `fork` copies
//! what it has touched of its memory, which no change of the probe may move. The probe uses the
//! library for what both speak: the messages of [`channel`], clocks, and the names of the calls.

#![cfg_attr(not(test), no_std)]
// Only another program of ours sees what the feature opens.
#![cfg_attr(feature = "caller", allow(clippy::missing_errors_doc, clippy::must_use_candidate))]
// A test has nothing to look after while it waits.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

extern crate alloc;

mod become_program;
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
pub mod cputime;
#[cfg(not(feature = "caller"))]
mod entry;
#[cfg(feature = "caller")]
pub mod entry;
pub mod filelists;
mod identity;
mod messages;
pub mod pace;
#[cfg(feature = "planted")]
mod planted;
pub mod sys;
pub mod task;
mod window;
mod wire;

pub use calls::NAMES;
