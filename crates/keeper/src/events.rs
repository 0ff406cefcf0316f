//! Events: what the keeper sends to the other side.

use serde::Serialize;

use crate::failure::Failure;
use crate::stdio_lines;

/// An event.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum Event {
    /// A line of the journal, which is on disk here.
    Journal { line: String },
    /// The journal has all that is to be changed. The changes begin after a line from the other
    /// side.
    Planned,
    /// An interrupted run was undone, except for what others have changed since.
    Restored { changes: usize, left: Vec<String> },
    /// All changes are made.
    Held,
    /// All changes are undone, except for the problems, and for what others have changed since,
    /// which is left. `asked`: the other side wanted the end.
    Released { problems: Vec<String>, left: Vec<String>, asked: bool },
    /// The machine reboots: into the requested boot, or into its own.
    Rebooting,
    /// Which boot of which kernel runs. `token` names a boot that is not the machine's own.
    Where { boot: String, token: Option<String>, release: String },
    /// What earlier boots have left in the machine's logs.
    Words { text: String },
    /// The machine may not be changed at present. Nothing was changed.
    Unfit { message: String },
    /// Nothing was changed.
    Refused { message: String },
    /// A change failed. It is undone with the others.
    Failed { message: String },
}

impl From<Failure> for Event {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Unfit(message) => Self::Unfit { message },
            Failure::Refused(message) => Self::Refused { message },
            Failure::Failed(message) => Self::Failed { message },
        }
    }
}

/// Sends an event. Whether the other side still reads shows in what it sends.
pub fn send(said: &impl Serialize) {
    let Ok(mut text) = serde_json::to_string(said) else { return };
    text.push('\n');
    stdio_lines::write(text.as_bytes());
}

/// Sends new lines of the journal.
pub fn send_journal_lines(lines: Vec<String>) {
    for line in lines {
        send(&Event::Journal { line });
    }
}
