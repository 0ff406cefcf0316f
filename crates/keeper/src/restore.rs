//! Undoing what an interrupted run left: changes of the running system, and a boot that is not the
//! machine's own.

use std::path::Path;

use crate::before::check_people;
use crate::desk::{self, Desk};
use crate::failure::{Failure, Result};
use crate::files::{self, New};
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
pub struct Outcome {
    /// Why what is still changed is.
    pub problems: Vec<String>,
    /// What somebody else has changed since, and so is left.
    pub left: Vec<String>,
    changes: usize,
    reboot: bool,
}

impl Outcome {
    fn failed(failure: &Failure, reboot: bool) -> Self {
        Self { problems: vec![failure.to_string()], reboot, ..Self::default() }
    }
}

/// Undoes what an interrupted run left, and reboots where a boot runs that is not the machine's own.
pub fn restore(force: bool, people: bool, given: Option<&Given>) -> Outcome {
    let done = restored(force, people, given).and_then(|done| {
        if done.reboot && done.problems.is_empty() {
            say(&Said::Rebooting);
            running::reboot()?;
        }
        Ok(done)
    });
    done.unwrap_or_else(|failure| Outcome::failed(&failure, false))
}

/// The same when the machine has booted; whether it runs a boot that is not its own.
pub fn restore_at_boot() -> (Outcome, bool) {
    let done = restored(false, true, None).unwrap_or_else(|failure| {
        Outcome::failed(&failure, running::token().is_ok_and(|it| it.is_some()))
    });
    let reboot = done.reboot;
    (done, reboot)
}

fn restored(force: bool, people: bool, given: Option<&Given>) -> Result<Outcome> {
    let mut whole = Outcome { reboot: running::token()?.is_some(), ..Outcome::default() };
    let content = given.map_or(&[][..], |given| &given.content);
    if content.is_empty() && !Desk::is_there() && !whole.reboot {
        say(&Said::Restored { changes: 0, left: Vec::new() });
        return Ok(whole);
    }
    desk::check_root()?;
    let Some(desk) = Desk::take()? else {
        whole.problems.push("another hardcost is changing that machine".into());
        return Ok(whole);
    };
    let (changed, booted) = (Desk::journal(), Desk::boot_journal());
    let mut adopted = None;
    if let Some(given) = given.filter(|given| !given.content.is_empty()) {
        let path = if given.boot { &booted } else { &changed };
        if desk.left(path)?.is_none() {
            match adopt(path, given, force, people) {
                Ok(true) => adopted = Some(path.clone()),
                Ok(false) => {}
                Err(failure) => whole.problems.push(failure.to_string()),
            }
        }
    }
    for path in [changed, booted] {
        let Some(mut journal) = desk.left(&path)? else { continue };
        check_people(people)?;
        // One that was just brought is first undone as far as nobody else has changed anything.
        let forced = force && adopted.as_ref() != Some(&path);
        let done = undo(&mut journal, &desk::boot()?, forced)?;
        say_lines(done.lines);
        if done.problems.is_empty() && done.left.is_empty() && !done.reboot {
            desk.finish(&journal)?;
        }
        whole.changes += done.changes;
        whole.problems.extend(done.problems);
        whole.left.extend(done.left);
    }
    if whole.problems.is_empty() {
        say(&Said::Restored { changes: whole.changes, left: whole.left.clone() });
    }
    Ok(whole)
}

/// Takes over a journal that somebody else kept, if it is open; whether it was.
fn adopt(path: &Path, given: &Given, force: bool, people: bool) -> Result<bool> {
    let Given { content, boot } = given;
    let Some(read) = Journal::given(content)? else { return Ok(false) };
    if read.begin.machine != desk::machine() {
        return Err(Failure::Refused("the journal is of another machine".into()));
    }
    // Each kind has numbers of its own: those of the other do not say what is finished.
    if read.is_of_boot().is_some_and(|is_of_boot| is_of_boot != *boot) {
        let is = if *boot { "no" } else { "a" };
        return Err(Failure::Refused(format!("what was brought is {is} journal of a boot")));
    }
    match Desk::is_open(&read, content, path)? {
        Some(false) => return Ok(false),
        None if !force => {
            return Err(Failure::Refused(
                "the machine has no record of the run whose journal was brought, so that may be \
                 undone already, and what it says somebody's own by now: nothing was undone; \
                 `--force` undoes what still has the value that the run wrote"
                    .into(),
            ));
        }
        _ => {}
    }
    // Before it is taken over: then it is one of the machine's own, which `--force` undoes at once.
    check_people(people)?;
    let content = read.adopted(content)?;
    let token = files::token()?;
    files::put(path, &New::of_root(&content, 0o600), &token)?;
    Ok(true)
}
