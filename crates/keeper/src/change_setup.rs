//! The steps before any change: reading the order, locking the state folder, beginning the journal.

use std::path::Path;
use std::time::Duration;

use serde::de::DeserializeOwned;

use crate::changes::undo::undo;
use crate::events::{Event, send, send_journal_lines};
use crate::failure::{Failure, Result};
use crate::journal::entry::Entry;
use crate::journal::file::Journal;
use crate::journal::state::Change;
use crate::logins::logged_in;
use crate::state_folder::{self, StateFolder};
use crate::stdio_lines::InputLines;

/// Reads the order, which is the first line.
pub fn read_order<T: DeserializeOwned>(lines: &mut InputLines) -> Result<T> {
    let cut = || Failure::Failed("the stream ended before it was said what is wanted".into());
    let first = lines.next(Duration::from_secs(60), None)?.ok_or_else(cut)?;
    serde_json::from_slice(&first)
        .map_err(|error| Failure::Refused(format!("what is wanted can't be read: {error}")))
}

/// Takes the state folder, once the machine may be changed and no interrupted run is left to be
/// undone.
pub fn take_folder(allow_logins: bool) -> Result<StateFolder> {
    state_folder::check_root()?;
    check_logins(allow_logins)?;
    let folder = StateFolder::take()?
        .ok_or_else(|| Failure::Unfit("another hardcost is changing that machine".into()))?;
    if let Some(mut left) = folder.left(&StateFolder::journal())? {
        let done = undo(&mut left, &state_folder::boot()?, false)?;
        if !done.problems.is_empty() {
            return Err(Failure::Unfit(done.problems.join("; ")));
        }
        folder.finish(&left)?;
        send(&Event::Restored { changes: done.changes, left: done.left });
    }
    Ok(folder)
}

/// Refuses if users are logged in, unless that is allowed.
pub fn check_logins(allow_logins: bool) -> Result<()> {
    let others = logged_in();
    if allow_logins || others.is_empty() {
        return Ok(());
    }
    let names = others.into_iter().collect::<Vec<_>>().join(", ");
    Err(Failure::Unfit(format!("users are logged in there: {names}")))
}

/// Begins a journal with the state before the changes, and waits until the other side has it, too;
/// `None` if it does not confirm within so many seconds.
pub fn begin_journal(
    path: &Path,
    folder: &StateFolder,
    run: &str,
    before: Vec<Change>,
    (seconds, lines): (f64, &mut InputLines),
) -> Result<Option<Journal>> {
    let (mut journal, line) = folder.begin(path, run, seconds)?;
    let mut written = vec![line];
    for change in before {
        written.push(journal.write(&Entry::Change(change))?);
    }
    journal.sync()?;
    send_journal_lines(written);
    send(&Event::Planned);
    if lines.next(duration(seconds), None)?.is_none() {
        folder.finish(&journal)?;
        return Ok(None);
    }
    Ok(Some(journal))
}

/// So many seconds, or a minute if that is no duration.
pub fn duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::from_secs(60))
}
