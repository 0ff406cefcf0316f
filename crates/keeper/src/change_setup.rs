//! What comes before any change: whether the machine may be changed, and what it was.

use std::path::Path;
use std::time::Duration;

use serde::de::DeserializeOwned;

use crate::desk::{self, Desk};
use crate::entry::{Change, Entry};
use crate::failure::{Failure, Result};
use crate::journal::Journal;
use crate::lines::Lines;
use crate::people::logged_in;
use crate::said::{Said, say, say_lines};
use crate::undo::undo;

/// What the first line says is wanted.
pub fn ordered<T: DeserializeOwned>(lines: &mut Lines) -> Result<T> {
    let cut = || Failure::Failed("the stream ended before it was said what is wanted".into());
    let first = lines.next(Duration::from_secs(60), None)?.ok_or_else(cut)?;
    serde_json::from_slice(&first)
        .map_err(|error| Failure::Refused(format!("what is wanted can't be read: {error}")))
}

/// The keeper's folder, once the machine may be changed and nothing is left of an interrupted run.
pub fn taken(people: bool) -> Result<Desk> {
    desk::check_root()?;
    check_people(people)?;
    let desk = Desk::take()?
        .ok_or_else(|| Failure::Unfit("another hardcost is changing that machine".into()))?;
    if let Some(mut left) = desk.left(&Desk::journal())? {
        let done = undo(&mut left, &desk::boot()?, false)?;
        if !done.problems.is_empty() {
            return Err(Failure::Unfit(done.problems.join("; ")));
        }
        desk.finish(&left)?;
        say(&Said::Restored { changes: done.changes, left: done.left });
    }
    Ok(desk)
}

/// Refuses where users are logged in, unless that is all right.
pub fn check_people(people: bool) -> Result<()> {
    let others = logged_in();
    if people || others.is_empty() {
        return Ok(());
    }
    let names = others.into_iter().collect::<Vec<_>>().join(", ");
    Err(Failure::Unfit(format!("users are logged in there: {names}")))
}

/// Begins a journal of what there is, and waits until the other side has it too; `None` if it is not
/// said within so many seconds.
pub fn written_down(
    path: &Path,
    desk: &Desk,
    run: &str,
    before: Vec<Change>,
    (seconds, lines): (f64, &mut Lines),
) -> Result<Option<Journal>> {
    let (mut journal, line) = desk.begin(path, run, seconds)?;
    let mut written = vec![line];
    for change in before {
        written.push(journal.write(&Entry::Change(change))?);
    }
    journal.sync()?;
    say_lines(written);
    say(&Said::Planned);
    if lines.next(limit(seconds), None)?.is_none() {
        desk.finish(&journal)?;
        return Ok(None);
    }
    Ok(Some(journal))
}

/// So many seconds, or a minute where that is no time.
pub fn limit(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::from_secs(60))
}
