//! The entries of a journal: what was there before a change, what a change made of it, what is undone.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A file: its bytes, owner, mode and labels. A directory can only be made.
    File,
    /// A setting below `/proc/sys`.
    Setting,
    /// The kernel's audit rules, in their order.
    AuditRules,
    /// Audit's state: on or off, what it does on failure, limits.
    AuditState,
    /// `SELinux`'s mode.
    SecurityModule,
    /// Whether a unit of systemd runs.
    Service,
    /// The options of a mount.
    Mount,
    /// Which boot runs: the machine's own, or one with further words on its command line.
    Boot,
}

impl Kind {
    /// Whether a reboot undoes the change, since the kernel alone holds it.
    pub fn ends_with_the_boot(self) -> bool {
        !matches!(self, Self::File | Self::Service | Self::Boot)
    }
}

/// On which machine, in which boot and for which run changes are made.
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
    /// The keeper's folder there, by a name that it got when it was made; none before version 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub desk: Option<String>,
    /// Which of that folder's journals it is; a number is used again only if nothing was changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
    /// What nobody can guess, by which a file is named while it is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

/// The version of the format that is written. The first did not say which changes were begun.
pub const VERSION: u32 = 2;

/// What something was before it is changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// What it is.
    pub kind: Kind,
    /// A path, or a unit.
    pub name: String,
    /// Its content; none: it was not there.
    #[serde(with = "content")]
    pub before: Option<Vec<u8>>,
    /// A file's owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<u32>,
    /// Its group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<u32>,
    /// Its permission bits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
    /// Its extended attributes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, Bytes>,
    /// The content that is going to be written, where that is known before.
    #[serde(default, with = "content", skip_serializing_if = "Option::is_none")]
    pub wanted: Option<Vec<u8>>,
}

impl Change {
    /// Whether a thing, as it was looked at now, is what it was before the change.
    pub fn is_back(&self, now: &Self) -> bool {
        self.before == now.before
            && (self.owner, self.group, self.mode) == (now.owner, now.group, now.mode)
            && self.labels == now.labels
    }
}

/// What a change made of a thing. What is no file has neither owner, group, mode nor labels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Made {
    /// Which change, counted from 0.
    pub number: usize,
    /// What is there then; none: nothing.
    #[serde(with = "content")]
    pub after: Option<Vec<u8>>,
    /// A file's owner; none of what the first version wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<u32>,
    /// Its group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<u32>,
    /// Its permission bits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
    /// Its extended attributes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, Bytes>,
}

impl Made {
    /// What a change made, by what the thing is now.
    pub fn of(number: usize, now: Change) -> Self {
        let Change { before: after, owner, group, mode, labels, .. } = now;
        Self { number, after, owner, group, mode, labels }
    }

    /// Whether a thing is still what the change made of it.
    pub fn is_still(&self, now: &Change) -> bool {
        let about = (self.owner, self.group, self.mode) == (now.owner, now.group, now.mode)
            && self.labels == now.labels;
        self.after == now.before && (self.mode.is_none() || about)
    }
}

/// Bytes, which JSON holds as base64.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bytes(#[serde(with = "content")] pub Option<Vec<u8>>);

/// An entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "lowercase")]
pub enum Entry {
    /// The first one.
    Begin(Begin),
    /// Something is about to be changed.
    Change(Change),
    /// A change is begun: until now nothing was written.
    Making {
        /// Which.
        number: usize,
    },
    /// A change was made.
    Made(Made),
    /// Somebody else has made something else of a thing since: it is theirs.
    Left {
        /// Which.
        number: usize,
    },
    /// The journal comes from another machine's disk: what it lacks may have happened all the same.
    Adopted,
    /// A change is undone, and was seen to be.
    Undone {
        /// Which.
        number: usize,
    },
}

mod content {
    use base64::Engine;
    use base64::prelude::BASE64_URL_SAFE;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(clippy::ref_option, reason = "serde's interface")]
    pub fn serialize<S: Serializer>(bytes: &Option<Vec<u8>>, to: S) -> Result<S::Ok, S::Error> {
        bytes.as_ref().map(|bytes| BASE64_URL_SAFE.encode(bytes)).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<u8>>, D::Error> {
        let text = Option::<String>::deserialize(from)?;
        text.map(|text| BASE64_URL_SAFE.decode(text).map_err(D::Error::custom)).transpose()
    }
}
