//! Holding changes for as long as somebody on the other side of a stream wants them.
//!
//! The first line says what is wanted. What was there is written down, here and by whoever listens,
//! before anything is changed. From then on a line has to come each now and then. When none comes
//! for too long, when the stream ends, or when it is said, everything is undone.

use std::path::Path;
use std::time::Duration;

use hardcost_linux::daemon::Daemon;
use serde::{Deserialize, Serialize};

use crate::desk::{self, Desk};
use crate::entry::{Begin, Change, Entry};
use crate::failure::{Failure, Result};
use crate::guard::Guard;
use crate::journal::Journal;
use crate::lines::{self, Lines};
use crate::people::logged_in;
use crate::undo::undo;
use crate::wanted::Wanted;
use crate::{oneboot, thing};

/// The first line: for which run, how many seconds without a line are too many, and what is wanted.
/// `people`: also where users are logged in. `booted` names the boot that has to run, if that is not
/// the machine's own.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    run: String,
    limit: f64,
    #[serde(default)]
    people: bool,
    #[serde(default)]
    booted: Option<String>,
    changes: Vec<Wanted>,
}

/// What is said.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum Said {
    /// A line of the journal, which is on disk here.
    Journal { line: String },
    /// All that is to be changed is written down: a line from the other side lets it be changed.
    Planned,
    /// What an interrupted run left was undone.
    Restored { changes: usize },
    /// All is changed.
    Held,
    /// All is undone, but for the problems; whether somebody asked for that.
    Released { problems: Vec<String>, asked: bool },
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

/// Holds what is wanted until it is no longer; whether all was done, and undone.
pub fn hold() -> bool {
    let mut lines = Lines::default();
    let (problems, asked) = match held(&mut lines) {
        Ok(ended) => ended,
        Err(failure) => {
            let message = failure.to_string();
            let changed = Desk::journal().exists();
            say(&match failure {
                Failure::Unfit(message) => Said::Unfit { message },
                Failure::Refused(message) => Said::Refused { message },
                Failure::Failed(message) => Said::Failed { message },
            });
            (if changed { vec![message] } else { Vec::new() }, false)
        }
    };
    let done = problems.is_empty();
    say(&Said::Released { problems, asked });
    done
}

/// Holds it; returns why what is still changed is, and whether the end was asked for.
fn held(lines: &mut Lines) -> Result<(Vec<String>, bool)> {
    let cut = || Failure::Failed("the stream ended before it was said what is wanted".into());
    let first = lines.next(Duration::from_secs(60), None)?.ok_or_else(cut)?;
    let order: Order = serde_json::from_slice(&first)
        .map_err(|error| Failure::Refused(format!("what is wanted can't be read: {error}")))?;
    let desk = taken(order.people)?;
    let token = oneboot::token()?;
    if token != order.booted {
        return Err(Failure::Unfit(match token {
            Some(_) => {
                "it runs a boot of an interrupted run: `hardcost restore` ends that".into()
            }
            None => "it no longer runs the boot that was asked for".into(),
        }));
    }
    let Some(mut journal) = planned(&order, &desk, lines)? else { return Ok((Vec::new(), false)) };
    let guard = Guard::start();
    let made = match &guard {
        Ok(_) => changed(&order, &mut journal, lines),
        Err(why) => Err(Failure::Failed(why.to_string())),
    };
    let undone = undo(&mut journal, &desk::boot()?, false)?;
    if undone.problems.is_empty() {
        desk.clear(&Desk::journal())?;
    }
    let _ = guard.map(Guard::dismiss);
    say_lines(undone.lines);
    let asked = made.unwrap_or_else(|failure| {
        say(&Said::Failed { message: failure.to_string() });
        false
    });
    Ok((undone.problems, asked))
}

/// The keeper's folder, once the machine may be changed and nothing is left of an interrupted run.
pub fn taken(people: bool) -> Result<Desk> {
    desk::check_root()?;
    check_people(people)?;
    let desk = Desk::take()?
        .ok_or_else(|| Failure::Unfit("another hardcost is changing that machine".into()))?;
    if let Some(mut left) = desk.left(&Desk::journal())? {
        let changes = left.pending().len();
        let done = undo(&mut left, &desk::boot()?, false)?;
        if !done.problems.is_empty() {
            return Err(Failure::Unfit(done.problems.join("; ")));
        }
        desk.clear(&Desk::journal())?;
        say(&Said::Restored { changes });
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

/// Writes down what there is, and waits until the other side has it too; `None` if it never says so.
fn planned(order: &Order, desk: &Desk, lines: &mut Lines) -> Result<Option<Journal>> {
    let mut before = Vec::new();
    // Units are undone last of all: they are started again with the files that they had.
    let (units, others): (Vec<_>, Vec<_>) =
        order.changes.iter().partition(|one| matches!(one, Wanted::Unit { .. }));
    for wanted in units.into_iter().chain(others) {
        for (kind, name) in wanted.touches()? {
            let known = |one: &Change| one.kind == kind && one.name == name;
            if !before.iter().any(known) {
                before.push(thing::look(kind, &name)?);
            }
        }
    }
    written_down(&Desk::journal(), desk, &order.run, before, (order.limit, lines))
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
    let begin =
        Begin { version: 1, machine: desk::machine(), boot: desk::boot()?, run: run.to_owned() };
    desk.set_up(seconds)?;
    let (mut journal, line) = Journal::begin(path, begin)?;
    let mut written = vec![line];
    for change in before {
        written.push(journal.write(&Entry::Change(change))?);
    }
    journal.sync()?;
    say_lines(written);
    say(&Said::Planned);
    if lines.next(limit(seconds), None)?.is_none() {
        desk.clear(path)?;
        return Ok(None);
    }
    Ok(Some(journal))
}

/// Makes the changes, and returns when they are no longer wanted: whether somebody said so.
fn changed(order: &Order, journal: &mut Journal, lines: &mut Lines) -> Result<bool> {
    let mut daemon: Option<Daemon> = None;
    let made = order.changes.iter().try_for_each(|wanted| {
        let done = wanted.carry_out(&mut daemon)?;
        say(&done);
        Ok(())
    });
    for number in 0..journal.changes().len() {
        let change = &journal.changes()[number].change;
        // What can't be seen now is undone whatever it is then.
        if let Ok(now) = thing::look(change.kind, &change.name) {
            let line = journal.write(&Entry::Made { number, after: now.before })?;
            say(&Said::Journal { line });
        }
    }
    journal.sync()?;
    made?;
    say(&Said::Held);
    let limit = limit(order.limit);
    let asked = loop {
        match lines.next(limit, daemon.as_mut())? {
            Some(line) if line == b"undo" => break true,
            Some(_) => {}
            None => break false,
        }
    };
    if let Some(daemon) = &mut daemon {
        let _ = daemon.control.set_daemon(0); // it is not the daemon any more when this ends, anyway
    }
    Ok(asked)
}

/// So many seconds, or a minute where that is no time.
pub fn limit(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::from_secs(60))
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
