//! Temporary changes, which last as long as the other side of a stream wants them.
//!
//! The first line is the order. The state of everything is written down, here and on the other
//! side, before any change. After that a line has to come again and again. When none comes for too
//! long, when the stream ends, or on request, everything is undone.

use hardcost_linux::audit_daemon::Daemon;
use serde::Deserialize;

use crate::boot::running_boot;
use crate::change_setup::{begin_journal, duration, read_order, take_folder};
use crate::changes::kinds;
use crate::changes::requests::{ChangeRequest, ResolvedPaths};
use crate::changes::undo::{UndoResult, is_written, undo};
use crate::events::{Event, send, send_journal_lines};
use crate::failure::{Failure, Result};
use crate::guard_process::Guard;
use crate::journal::entry::Entry;
use crate::journal::file::{Journal, KnownChange};
use crate::journal::state::{Change, Kind, StateAfter};
use crate::state_folder::{self, StateFolder};
use crate::stdio_lines::InputLines;

/// The first line: the run, how many seconds of silence end the changes, and the requests.
/// `people`: also if users are logged in. `booted` names the boot that must run, if that is not the
/// machine's own.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    run: String,
    limit: f64,
    #[serde(default)]
    people: bool,
    #[serde(default)]
    booted: Option<String>,
    changes: Vec<ChangeRequest>,
}

/// Makes the changes, keeps them while they are wanted, and undoes them. Returns whether all that
/// worked.
pub fn hold() -> bool {
    let mut lines = InputLines::default();
    let (undone, asked) = match run_order(&mut lines) {
        Ok(ended) => ended,
        Err(failure) => {
            let message = failure.to_string();
            let is_changed = StateFolder::journal().exists();
            send(&Event::from(failure));
            let problems = if is_changed { vec![message] } else { Vec::new() };
            (UndoResult { problems, ..UndoResult::default() }, false)
        }
    };
    let UndoResult { problems, left, .. } = undone;
    let done = problems.is_empty() && left.is_empty();
    send(&Event::Released { problems, left, asked });
    done
}

/// The requests, and what they may change.
struct Plan<'a> {
    /// Each with the numbers of its changes.
    wanted: Vec<(&'a ChangeRequest, Vec<usize>)>,
    /// The states before, by the changes' numbers.
    before: Vec<Change>,
    resolved_paths: ResolvedPaths,
}

/// Carries out the order. Returns what is still changed, and whether the end was requested.
fn run_order(lines: &mut InputLines) -> Result<(UndoResult, bool)> {
    let order: Order = read_order(lines)?;
    let folder = take_folder(order.people)?;
    let token = running_boot::token()?;
    if token != order.booted {
        return Err(Failure::Unfit(match token {
            Some(_) => "it runs a boot of an interrupted run: `hardcost restore` ends that".into(),
            None => "it no longer runs the boot that was asked for".into(),
        }));
    }
    let Plan { wanted, before, resolved_paths } = plan(&order.changes)?;
    let waiting = (order.limit, &mut *lines);
    let Some(mut journal) =
        begin_journal(&StateFolder::journal(), &folder, &order.run, before, waiting)?
    else {
        return Ok((UndoResult::default(), false));
    };
    let guard = Guard::start();
    let made = match &guard {
        Ok(_) => {
            let made = make_changes(&wanted, &resolved_paths, &mut journal);
            made.and_then(|mut daemon| wait_for_end(order.limit, &mut daemon, lines))
        }
        Err(why) => Err(Failure::Failed(why.to_string())),
    };
    let mut undone = undo(&mut journal, &state_folder::boot()?, false)?;
    if undone.problems.is_empty() && undone.left.is_empty() {
        folder.finish(&journal)?;
    }
    let _ = guard.map(Guard::dismiss);
    send_journal_lines(std::mem::take(&mut undone.lines));
    let asked = made.unwrap_or_else(|failure| {
        send(&Event::Failed { message: failure.to_string() });
        false
    });
    Ok((undone, asked))
}

/// The plan of the requests, with the state of all that they may change.
fn plan(changes: &[ChangeRequest]) -> Result<Plan<'_>> {
    let (mut before, mut resolved_paths) = (Vec::<Change>::new(), ResolvedPaths::default());
    let mut numbers = vec![Vec::new(); changes.len()];
    // Units are undone last: they are restarted with their original files.
    let (units, others): (Vec<_>, Vec<_>) =
        (0..changes.len()).partition(|&at| matches!(changes[at], ChangeRequest::Unit { .. }));
    for at in units.into_iter().chain(others) {
        for (kind, name, wanted) in changes[at].affected_items(&mut resolved_paths)? {
            let known = before.iter().position(|one| one.kind == kind && one.name == name);
            if let Some(known) = known {
                before[known].wanted = None; // it is written more than once
            } else {
                before.push(Change { wanted, ..kinds::current_state(kind, &name)? });
            }
            numbers[at].push(known.unwrap_or(before.len() - 1));
        }
    }
    Ok(Plan { wanted: changes.iter().zip(numbers).collect(), before, resolved_paths })
}

/// Makes the changes. The journal notes that each begins, and then what it made.
fn make_changes(
    wanted: &[(&ChangeRequest, Vec<usize>)],
    resolved_paths: &ResolvedPaths,
    journal: &mut Journal,
) -> Result<Option<Daemon>> {
    let mut daemon: Option<Daemon> = None;
    let token = journal.token().to_owned();
    let mut made = Ok(());
    for (one, numbers) in wanted {
        for &number in numbers {
            let line = journal.write(&Entry::Making { number })?;
            send(&Event::Journal { line });
        }
        journal.sync()?;
        made = one.carry_out(resolved_paths, &token, &mut daemon).map(|done| send(&done));
        journal_outcome(journal, numbers)?;
        if made.is_err() {
            break;
        }
    }
    let has_units = wanted.iter().any(|(one, _)| matches!(one, ChangeRequest::Unit { .. }));
    compare_with_journal(journal, has_units)?;
    made?;
    send(&Event::Held);
    Ok(daemon)
}

/// Notes what one request has made, right after it.
fn journal_outcome(journal: &mut Journal, numbers: &[usize]) -> Result<()> {
    for &number in numbers {
        let KnownChange { change, made, .. } = &journal.changes()[number];
        // If this can't be read now, it is undone if it is what was to be written.
        let Ok(now) = kinds::current_state(change.kind, &change.name) else { continue };
        // The same if another process has already written the file: its content is not the
        // keeper's.
        let is_theirs =
            change.kind == Kind::File && change.wanted.is_some() && change.wanted != now.before;
        if !is_theirs && !made.as_ref().is_some_and(|made| made.is_still(&now)) {
            let line = journal.write(&Entry::Made(StateAfter::of(number, now)))?;
            send(&Event::Journal { line });
        }
    }
    journal.sync()
}

/// Compares everything with what was made, once all is made. The first changes may be long ago, so
/// a difference is others' work, unless the units that the keeper starts change it.
///
/// Settings that another setting changes were noted with that one.
fn compare_with_journal(journal: &mut Journal, has_units: bool) -> Result<()> {
    for number in 0..journal.changes().len() {
        let KnownChange { change, made: Some(made), .. } = &journal.changes()[number] else {
            continue;
        };
        let Ok(now) = kinds::current_state(change.kind, &change.name) else { continue };
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
            if is_ours { Entry::Made(StateAfter::of(number, now)) } else { Entry::Left { number } };
        let line = journal.write(&entry)?;
        send(&Event::Journal { line });
    }
    journal.sync()
}

/// Waits until the changes are no longer wanted. Returns whether the other side said so.
fn wait_for_end(seconds: f64, daemon: &mut Option<Daemon>, lines: &mut InputLines) -> Result<bool> {
    let limit = duration(seconds);
    let asked = loop {
        match lines.next(limit, daemon.as_mut())? {
            Some(line) if line == b"undo" => break true,
            Some(_) => {}
            None => break false,
        }
    };
    if let Some(daemon) = daemon {
        let _ = daemon.control.set_daemon(0); // the process ends as the daemon anyway
    }
    Ok(asked)
}
