//! What is said to whoever has the machine changed.

use serde::Serialize;

use crate::failure::Failure;
use crate::lines;

/// What is said.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum Said {
    /// A line of the journal, which is on disk here.
    Journal { line: String },
    /// All that is to be changed is written down: a line from the other side lets it be changed.
    Planned,
    /// What an interrupted run left was undone, but for what somebody else has changed since.
    Restored { changes: usize, left: Vec<String> },
    /// All is changed.
    Held,
    /// All is undone, but for the problems, and for what somebody else has changed since and so is
    /// left; whether somebody asked for that.
    Released { problems: Vec<String>, left: Vec<String>, asked: bool },
    /// The machine reboots: into a boot that was asked for, or into its own.
    Rebooting,
    /// Which boot of which kernel runs; `token` names one that is not the machine's own.
    Where { boot: String, token: Option<String>, release: String },
    /// What boots that are over have left in the machine's logs.
    Words { text: String },
    /// The machine is not to be changed at all just now; nothing was.
    Unfit { message: String },
    /// Nothing was changed.
    Refused { message: String },
    /// A change failed; it is undone with the others.
    Failed { message: String },
}

impl From<Failure> for Said {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Unfit(message) => Self::Unfit { message },
            Failure::Refused(message) => Self::Refused { message },
            Failure::Failed(message) => Self::Failed { message },
        }
    }
}

/// Says one thing; whether anybody listens is seen by what comes, or does not.
pub fn say(said: &impl Serialize) {
    let Ok(mut text) = serde_json::to_string(said) else { return };
    text.push('\n');
    lines::write(text.as_bytes());
}

/// Says what was added to the journal.
pub fn say_lines(lines: Vec<String>) {
    for line in lines {
        say(&Said::Journal { line });
    }
}
