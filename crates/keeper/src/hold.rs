//! Holding changes for as long as somebody on the other side of a stream wants them.
//!
//! The first line says what is wanted. What was there is written down, here and by whoever listens,
//! before anything is changed. From then on a line has to come each now and then. When none comes
//! for too long, when the stream ends, or when it is said, everything is undone.

use hardcost_linux::daemon::Daemon;
use serde::Deserialize;

use crate::before::{limit, ordered, taken, written_down};
use crate::desk::{self, Desk};
use crate::entry::{Change, Entry, Kind, Made};
use crate::failure::{Failure, Result};
use crate::guard::Guard;
use crate::journal::{Journal, Known};
use crate::lines::Lines;
use crate::said::{Said, say, say_lines};
use crate::undo::{Undone, is_written, undo};
use crate::wanted::{Reals, Wanted};
use crate::{running, thing};

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

/// Holds what is wanted until it is no longer; whether all was done, and undone.
pub fn hold() -> bool {
    let mut lines = Lines::default();
    let (undone, asked) = match held(&mut lines) {
        Ok(ended) => ended,
        Err(failure) => {
            let message = failure.to_string();
            let changed = Desk::journal().exists();
            say(&Said::from(failure));
            let problems = if changed { vec![message] } else { Vec::new() };
            (Undone { problems, ..Undone::default() }, false)
        }
    };
    let Undone { problems, left, .. } = undone;
    let done = problems.is_empty() && left.is_empty();
    say(&Said::Released { problems, left, asked });
    done
}

/// What is wanted, and what it may change.
struct Plan<'a> {
    /// With the numbers of the changes of each.
    wanted: Vec<(&'a Wanted, Vec<usize>)>,
    /// What was there before, by the changes' numbers.
    before: Vec<Change>,
    reals: Reals,
}

/// Holds it; returns what is still changed, and whether the end was asked for.
fn held(lines: &mut Lines) -> Result<(Undone, bool)> {
    let order: Order = ordered(lines)?;
    let desk = taken(order.people)?;
    let token = running::token()?;
    if token != order.booted {
        return Err(Failure::Unfit(match token {
            Some(_) => "it runs a boot of an interrupted run: `hardcost restore` ends that".into(),
            None => "it no longer runs the boot that was asked for".into(),
        }));
    }
    let Plan { wanted, before, reals } = planned(&order.changes)?;
    let waiting = (order.limit, &mut *lines);
    let Some(mut journal) = written_down(&Desk::journal(), &desk, &order.run, before, waiting)?
    else {
        return Ok((Undone::default(), false));
    };
    let guard = Guard::start();
    let made = match &guard {
        Ok(_) => {
            let made = changed(&wanted, &reals, &mut journal);
            made.and_then(|mut daemon| kept(order.limit, &mut daemon, lines))
        }
        Err(why) => Err(Failure::Failed(why.to_string())),
    };
    let mut undone = undo(&mut journal, &desk::boot()?, false)?;
    if undone.problems.is_empty() && undone.left.is_empty() {
        desk.finish(&journal)?;
    }
    let _ = guard.map(Guard::dismiss);
    say_lines(std::mem::take(&mut undone.lines));
    let asked = made.unwrap_or_else(|failure| {
        say(&Said::Failed { message: failure.to_string() });
        false
    });
    Ok((undone, asked))
}

/// What is wanted, with what there is of all that it may change.
fn planned(changes: &[Wanted]) -> Result<Plan<'_>> {
    let (mut before, mut reals) = (Vec::<Change>::new(), Reals::default());
    let mut numbers = vec![Vec::new(); changes.len()];
    // Units are undone last of all: they are started again with the files that they had.
    let (units, others): (Vec<_>, Vec<_>) =
        (0..changes.len()).partition(|&at| matches!(changes[at], Wanted::Unit { .. }));
    for at in units.into_iter().chain(others) {
        for (kind, name, wanted) in changes[at].touches(&mut reals)? {
            let known = before.iter().position(|one| one.kind == kind && one.name == name);
            if let Some(known) = known {
                before[known].wanted = None; // it is written more than once
            } else {
                before.push(Change { wanted, ..thing::look(kind, &name)? });
            }
            numbers[at].push(known.unwrap_or(before.len() - 1));
        }
    }
    Ok(Plan { wanted: changes.iter().zip(numbers).collect(), before, reals })
}

/// Makes the changes. Before each it is written down that it is begun, and after it what it made.
fn changed(
    wanted: &[(&Wanted, Vec<usize>)],
    reals: &Reals,
    journal: &mut Journal,
) -> Result<Option<Daemon>> {
    let mut daemon: Option<Daemon> = None;
    let token = journal.token().to_owned();
    let mut made = Ok(());
    for (one, numbers) in wanted {
        for &number in numbers {
            let line = journal.write(&Entry::Making { number })?;
            say(&Said::Journal { line });
        }
        journal.sync()?;
        made = one.carry_out(reals, &token, &mut daemon).map(|done| say(&done));
        noted(journal, numbers)?;
        if made.is_err() {
            break;
        }
    }
    let has_units = wanted.iter().any(|(one, _)| matches!(one, Wanted::Unit { .. }));
    compared(journal, has_units)?;
    made?;
    say(&Said::Held);
    Ok(daemon)
}

/// Writes down what one change has made, right after it.
fn noted(journal: &mut Journal, numbers: &[usize]) -> Result<()> {
    for &number in numbers {
        let Known { change, made, .. } = &journal.changes()[number];
        // What can't be seen now is undone if it is what was wanted.
        let Ok(now) = thing::look(change.kind, &change.name) else { continue };
        // So is a file that somebody else has already written since: what is there is not ours.
        let is_theirs =
            change.kind == Kind::File && change.wanted.is_some() && change.wanted != now.before;
        if !is_theirs && !made.as_ref().is_some_and(|made| made.is_still(&now)) {
            let line = journal.write(&Entry::Made(Made::of(number, now)))?;
            say(&Said::Journal { line });
        }
    }
    journal.sync()
}

/// Compares everything with what was made of it, once all is made: the first changes may be long
/// ago, so what differs is somebody else's, but for what our own units move when they start.
///
/// Settings that another of ours moves were noted with that one.
fn compared(journal: &mut Journal, has_units: bool) -> Result<()> {
    for number in 0..journal.changes().len() {
        let Known { change, made: Some(made), .. } = &journal.changes()[number] else { continue };
        let Ok(now) = thing::look(change.kind, &change.name) else { continue };
        if made.is_still(&now) || change.is_back(&now) {
            continue;
        }
        let is_ours = match change.kind {
            Kind::AuditRules | Kind::AuditState | Kind::Service => has_units,
            Kind::Setting => {
                let wanted = change.wanted.as_ref();
                wanted.is_some_and(|it| is_written(change.kind, it, now.before.as_deref()))
            }
            _ => false,
        };
        let entry =
            if is_ours { Entry::Made(Made::of(number, now)) } else { Entry::Left { number } };
        let line = journal.write(&entry)?;
        say(&Said::Journal { line });
    }
    journal.sync()
}

/// Returns when the changes are no longer wanted: whether somebody said so.
fn kept(seconds: f64, daemon: &mut Option<Daemon>, lines: &mut Lines) -> Result<bool> {
    let limit = limit(seconds);
    let asked = loop {
        match lines.next(limit, daemon.as_mut())? {
            Some(line) if line == b"undo" => break true,
            Some(_) => {}
            None => break false,
        }
    };
    if let Some(daemon) = daemon {
        let _ = daemon.control.set_daemon(0); // it is not the daemon any more when this ends, anyway
    }
    Ok(asked)
}
