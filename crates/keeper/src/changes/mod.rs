//! What can be changed on a machine: requests, the kinds of change, and undoing.
//!
//! Nothing may be changed before it is in the journal, and nothing undone that others have changed
//! since.
//!
//! `requests` carries out what the other side asks for. `kinds` reads and puts back a thing of any
//! kind; `audit`, `mounts` and `systemd_units` do so for theirs. `undo` decides what is undone.
//! `sysctl_side_effects` knows settings that change others. What is compared of a thing is in
//! `journal::state`, what is read of a file in `safe_files`.

pub mod audit;
pub mod audit_settings;
pub mod kinds;
pub mod mounts;
pub mod requests;
pub mod sysctl_side_effects;
pub mod systemd_units;
pub mod undo;
