//! The journal of changes, and which journals are finished.
//!
//! A line that was written is never changed or removed.
//!
//! `state` is what is kept of a thing before a change and after it, and compared before the change
//! is undone. `entry` is what a line says, `file` are the lines, each with a hash of the one before
//! it.

pub mod entry;
pub mod file;
pub mod finished_journals;
pub mod state;
