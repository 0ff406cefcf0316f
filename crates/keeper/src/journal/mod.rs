//! The journal of changes, and which journals are finished.
//!
//! A line that was written is never changed or removed.
//!
//! - `state.rs`: what is kept of a thing before and after a change; whether it still is either
//! - `entry.rs`: what a line says, as JSON, and the version of the format
//! - `file.rs`: the file: lines with a hash of the one before, damage, the largest journal
//! - `finished_journals.rs`: the numbers of finished journals, which are never undone again
//!
//! Where journals lie is decided in `src/state_folder.rs`, what is undone by them in
//! `changes/undo.rs`.

pub mod entry;
pub mod file;
pub mod finished_journals;
pub mod state;
