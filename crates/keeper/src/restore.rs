//! Undoing what an interrupted run left: changes of the running system, and a boot that is not the
//! machine's own.

use std::fs;
use std::path::Path;

use crate::before::check_people;
use crate::desk::{self, Desk};
use crate::failure::{Failure, Result};
use crate::journal::Journal;
use crate::running;
use crate::said::{Said, say, say_lines};
use crate::undo::undo;

/// A journal that somebody else kept of this machine, for where there is none here.
pub struct Given {
    /// Its content.
    pub content: Vec<u8>,
    /// Whether it is of a boot.
    pub boot: bool,
}

/// What became of a restoration.
#[derive(Default)]
struct Outcome {
    changes: usize,
    problems: Vec<String>,
    reboot: bool,
}

/// Undoes what an interrupted run left, and reboots where a boot runs that is not the machine's own;
/// returns why what is still changed is.
pub fn restore(force: bool, people: bool, given: Option<&Given>) -> Vec<String> {
    let done = restored(force, people, given).and_then(|done| {
        if done.reboot && done.problems.is_empty() {
            say(&Said::Rebooting);
            running::reboot()?;
        }
        Ok(done.problems)
    });
    done.unwrap_or_else(|failure| vec![failure.to_string()])
}

/// The same when the machine has booted; whether it runs a boot that is not its own.
pub fn restore_at_boot() -> (Vec<String>, bool) {
    match restored(false, true, None) {
        Ok(done) => (done.problems, done.reboot),
        Err(failure) => (vec![failure.to_string()], running::token().is_ok_and(|it| it.is_some())),
    }
}

fn restored(force: bool, people: bool, given: Option<&Given>) -> Result<Outcome> {
    let mut whole = Outcome { reboot: running::token()?.is_some(), ..Outcome::default() };
    let content = given.map_or(&[][..], |given| &given.content);
    if content.is_empty() && !Desk::is_there() && !whole.reboot {
        say(&Said::Restored { changes: 0 });
        return Ok(whole);
    }
    desk::check_root()?;
    let Some(desk) = Desk::take()? else {
        whole.problems.push("another hardcost is changing that machine".into());
        return Ok(whole);
    };
    let (changed, booted) = (Desk::journal(), Desk::boot_journal());
    if let Some(given) = given.filter(|given| !given.content.is_empty()) {
        let path = if given.boot { &booted } else { &changed };
        if !path.exists() {
            adopt(path, &given.content)?;
        }
    }
    for path in [changed, booted] {
        let Some(mut journal) = desk.left(&path)? else { continue };
        check_people(people)?;
        let pending = journal.pending().len();
        let done = undo(&mut journal, &desk::boot()?, force)?;
        say_lines(done.lines);
        if done.problems.is_empty() && !done.reboot {
            desk.clear(&path)?;
        }
        whole.changes += pending;
        whole.problems.extend(done.problems);
    }
    if whole.problems.is_empty() {
        say(&Said::Restored { changes: whole.changes });
    }
    Ok(whole)
}

/// Takes over a journal that somebody else kept, unless it was finished here.
fn adopt(path: &Path, given: &[u8]) -> Result<()> {
    let finished = fs::read(Desk::last(path)).unwrap_or_default();
    let first = given.split(|&byte| byte == b'\n').next().unwrap_or_default();
    if !first.is_empty() && finished.starts_with(first) {
        return Ok(());
    }
    desk::write(path, given, 0o600)?;
    let journal = Journal::open(path)?;
    if journal.is_some_and(|it| it.begun().machine != desk::machine()) {
        let _ = fs::remove_file(path);
        return Err(Failure::Refused("the journal is of another machine".into()));
    }
    Ok(())
}
