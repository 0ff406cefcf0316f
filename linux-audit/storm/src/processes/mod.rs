//! What runs at the same time in a round, a file for each kind of process.
//!
//! Each process ends when `Shared::is_running` says so, and reports what it could not do by
//! `Shared::fault`. None waits for another, so that every order that the kernel allows may happen.
//!
//! - `rule_loaders.rs`: load and delete random rules, with failing allocations, too; how many are
//!   kept
//! - `numbered_callers.rs`: calls that must be recorded exactly once, and one's that must never be
//! - `random_callers.rs`: the load of other calls: which are made, on which paths, as which users
//! - `removers.rs`: remove directories, file systems, executables and files that rules watch
//! - `directory_races.rs`: move and remove a directory while its rules are added or deleted
//! - `selinux_policy.rs`: changes SELinux's policy, booleans and mode

pub mod directory_races;
pub mod numbered_callers;
pub mod random_callers;
pub mod removers;
pub mod rule_loaders;
pub mod selinux_policy;
