//! Holding changes for as long as somebody on the other side of a stream wants them.
//!
//! The first line says what is wanted. What was there is written down, here and by whoever listens,
//! before anything is changed. From then on a line has to come each now and then. When none comes
//! for too long, when the stream ends, or when it is said, everything is undone.

use hardcost_linux::daemon::Daemon;
use serde::Deserialize;

use crate::before::{limit, ordered, taken, written_down};
use crate::desk::{self, Desk};
use crate::entry::{Change, Entry};
use crate::failure::{Failure, Result};
use crate::guard::Guard;
use crate::journal::Journal;
use crate::lines::Lines;
use crate::said::{Said, say, say_lines};
use crate::undo::undo;
use crate::wanted::Wanted;
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
    let (problems, asked) = match held(&mut lines) {
        Ok(ended) => ended,
        Err(failure) => {
            let message = failure.to_string();
            let changed = Desk::journal().exists();
            say(&Said::from(failure));
            (if changed { vec![message] } else { Vec::new() }, false)
        }
    };
    let done = problems.is_empty();
    say(&Said::Released { problems, asked });
    done
}

/// Holds it; returns why what is still changed is, and whether the end was asked for.
fn held(lines: &mut Lines) -> Result<(Vec<String>, bool)> {
    let order: Order = ordered(lines)?;
    let desk = taken(order.people)?;
    let token = running::token()?;
    if token != order.booted {
        return Err(Failure::Unfit(match token {
            Some(_) => "it runs a boot of an interrupted run: `hardcost restore` ends that".into(),
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
