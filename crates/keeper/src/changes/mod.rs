//! What can be changed on a machine: requests, the kinds of change, and undoing.
//!
//! Nothing may be changed before it is in the journal, and nothing undone that others have changed
//! since.
//!
//! - `requests.rs`: what the other side may ask for, and doing it; the default backlog limit
//! - `kinds.rs`: for each kind of thing, the state that is read and how it is put back; settings,
//!   SELinux's mode and files themselves
//! - `audit.rs`: audit's rules and state; `audit_settings.rs`: audit's settings by one message
//! - `mounts.rs`: mount options, by remounting
//! - `systemd_units.rs`: whether units run, starting and stopping them
//! - `undo.rs`: the order of undoing, how often it is tried, and what is left to others
//! - `sysctl_side_effects.rs`: settings that change others, and those that can't be put back
//!
//! Whether a thing still is as it was written is decided in `journal/state.rs`; which attributes of
//! a file are read for that (owner, mode, labels) in `src/safe_files.rs`.

pub mod audit;
pub mod audit_settings;
pub mod kinds;
pub mod mounts;
pub mod requests;
pub mod sysctl_side_effects;
pub mod systemd_units;
pub mod undo;
