//! The entries of a journal, as JSON.

use serde::{Deserialize, Serialize};

use crate::journal::state::{Change, StateAfter};

/// The machine, the boot and the run of a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Begin {
    /// The version of the journal's format.
    pub version: u32,
    /// A hash of the machine's id.
    pub machine: String,
    /// The id of the boot.
    pub boot: String,
    /// The run.
    pub run: String,
    /// The name of the keeper's state folder, from when it was made; none before version 2.
    #[serde(default, rename = "desk", skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// The journal's number in that folder. A number is reused only if nothing was changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
    /// An unguessable part of a file's name while it is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

/// The version of the format that is written. Version 1 did not note which changes were begun.
pub const VERSION: u32 = 2;

/// An entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "lowercase")]
pub enum Entry {
    /// The first one.
    Begin(Begin),
    /// A thing is about to be changed.
    Change(Change),
    /// A change begins. Until here nothing was written.
    Making {
        /// Which.
        number: usize,
    },
    /// A change was made.
    Made(StateAfter),
    /// Others have changed the thing since. It is left to them.
    Left {
        /// Which.
        number: usize,
    },
    /// The journal was brought from elsewhere: changes that it lacks may have been made.
    Adopted,
    /// A change is undone and verified.
    Undone {
        /// Which.
        number: usize,
    },
}
