//! What runs at the same time in a round, a file for each kind of process.
//!
//! Each process ends when `Shared::is_running` says so, and reports what it could not do by
//! `Shared::fault`. None waits for another, so that every order that the kernel allows may happen.

pub mod directory_races;
pub mod numbered_callers;
pub mod random_callers;
pub mod removers;
pub mod rule_loaders;
pub mod selinux_policy;
