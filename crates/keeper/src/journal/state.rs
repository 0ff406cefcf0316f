//! The state of a thing before a change and after it, and whether the current state is either.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The kind of a thing that is changed.
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
    /// Whether a reboot undoes the change, since only the kernel holds it.
    pub fn ends_with_the_boot(self) -> bool {
        !matches!(self, Self::File | Self::Service | Self::Boot)
    }
}

/// The state of a thing before it is changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// The thing's kind.
    pub kind: Kind,
    /// A path, or a unit.
    pub name: String,
    /// Its content; none: it did not exist.
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
    /// The content that is going to be written, if known.
    #[serde(default, with = "content", skip_serializing_if = "Option::is_none")]
    pub wanted: Option<Vec<u8>>,
}

impl Change {
    /// Whether the current state of a thing is that before the change.
    pub fn is_back(&self, now: &Self) -> bool {
        self.before == now.before
            && (self.owner, self.group, self.mode) == (now.owner, now.group, now.mode)
            && self.labels == now.labels
    }
}

/// The state that a change made. A thing that is no file has neither owner, group, mode nor labels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StateAfter {
    /// Which change, counted from 0.
    pub number: usize,
    /// Its content; none: it does not exist.
    #[serde(with = "content")]
    pub after: Option<Vec<u8>>,
    /// A file's owner; none in version 1.
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

impl StateAfter {
    /// The state that a change made, from the thing's current state.
    pub fn of(number: usize, now: Change) -> Self {
        let Change { before: after, owner, group, mode, labels, .. } = now;
        Self { number, after, owner, group, mode, labels }
    }

    /// Whether the current state of a thing is still the one that the change made.
    pub fn is_still(&self, now: &Change) -> bool {
        let about = (self.owner, self.group, self.mode) == (now.owner, now.group, now.mode)
            && self.labels == now.labels;
        self.after == now.before && (self.mode.is_none() || about)
    }
}

/// Bytes, as base64 in JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bytes(#[serde(with = "content")] pub Option<Vec<u8>>);

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
