//! Undoing what an interrupted run left: changes of the running system, and a boot that is not the
//! machine's own.

use std::path::Path;

use crate::boot::running_boot;
use crate::change_setup::check_logins;
use crate::changes::undo::undo;
use crate::events::{Event, send, send_journal_lines};
use crate::failure::{Failure, Result};
use crate::journal::file::Journal;
use crate::safe_files::{self, NewFile};
use crate::state_folder::{self, StateFolder};

/// A journal of this machine that the other side kept, for when there is none here.
pub struct GivenJournal {
    /// Its content.
    pub content: Vec<u8>,
    /// Whether it is a boot's.
    pub boot: bool,
}

/// The result of restoring.
#[derive(Default)]
pub struct Outcome {
    /// Why things are still changed.
    pub problems: Vec<String>,
    /// What others have changed since, which is left.
    pub left: Vec<String>,
    changes: usize,
    reboot: bool,
}

impl Outcome {
    fn failed(failure: &Failure, reboot: bool) -> Self {
        Self { problems: vec![failure.to_string()], reboot, ..Self::default() }
    }
}

/// Undoes what an interrupted run left, and reboots if a boot runs that is not the machine's own.
pub fn restore(force: bool, allow_logins: bool, given: Option<&GivenJournal>) -> Outcome {
    let done = undo_all(force, allow_logins, given).and_then(|done| {
        if done.reboot && done.problems.is_empty() {
            send(&Event::Rebooting);
            running_boot::reboot()?;
        }
        Ok(done)
    });
    done.unwrap_or_else(|failure| Outcome::failed(&failure, false))
}

/// The same after the machine has booted. Returns whether it runs a boot that is not its own.
pub fn restore_at_boot() -> (Outcome, bool) {
    let done = undo_all(false, true, None).unwrap_or_else(|failure| {
        Outcome::failed(&failure, running_boot::token().is_ok_and(|it| it.is_some()))
    });
    let reboot = done.reboot;
    (done, reboot)
}

fn undo_all(force: bool, allow_logins: bool, given: Option<&GivenJournal>) -> Result<Outcome> {
    let mut whole = Outcome { reboot: running_boot::token()?.is_some(), ..Outcome::default() };
    let content = given.map_or(&[][..], |given| &given.content);
    if content.is_empty() && !StateFolder::is_there() && !whole.reboot {
        send(&Event::Restored { changes: 0, left: Vec::new() });
        return Ok(whole);
    }
    state_folder::check_root()?;
    let Some(folder) = StateFolder::take()? else {
        whole.problems.push("another hardcost is changing that machine".into());
        return Ok(whole);
    };
    let (changed, booted) = (StateFolder::journal(), StateFolder::boot_journal());
    let mut adopted = None;
    if let Some(given) = given.filter(|given| !given.content.is_empty()) {
        let path = if given.boot { &booted } else { &changed };
        if folder.left(path)?.is_none() {
            match adopt(path, given, force, allow_logins) {
                Ok(true) => adopted = Some(path.clone()),
                Ok(false) => {}
                Err(failure) => whole.problems.push(failure.to_string()),
            }
        }
    }
    for path in [changed, booted] {
        let Some(mut journal) = folder.left(&path)? else { continue };
        check_logins(allow_logins)?;
        // A journal just brought is first undone without force, where others have changed nothing.
        let forced = force && adopted.as_ref() != Some(&path);
        let done = undo(&mut journal, &state_folder::boot()?, forced)?;
        send_journal_lines(done.lines);
        if done.problems.is_empty() && done.left.is_empty() && !done.reboot {
            folder.finish(&journal)?;
        }
        whole.changes += done.changes;
        whole.problems.extend(done.problems);
        whole.left.extend(done.left);
    }
    if whole.problems.is_empty() {
        send(&Event::Restored { changes: whole.changes, left: whole.left.clone() });
    }
    Ok(whole)
}

/// Takes over a journal from the other side, if it is open. Returns whether it was.
fn adopt(path: &Path, given: &GivenJournal, force: bool, allow_logins: bool) -> Result<bool> {
    let GivenJournal { content, boot } = given;
    let Some(read) = Journal::given(content)? else { return Ok(false) };
    if read.begin.machine != state_folder::machine() {
        return Err(Failure::Refused("the journal is of another machine".into()));
    }
    // Each name has numbers of its own: those of the other do not show what is finished.
    if read.is_of_boot().is_some_and(|is_of_boot| is_of_boot != *boot) {
        let is = if *boot { "no" } else { "a" };
        return Err(Failure::Refused(format!("what was brought is {is} journal of a boot")));
    }
    match StateFolder::is_open(&read, content, path)? {
        Some(false) => return Ok(false),
        None if !force => {
            return Err(Failure::Refused(
                "the machine has no record of the run whose journal was brought, so that may be \
                 undone already, and what it names changed by others: nothing was undone; \
                 `--force` undoes what still has the value that the run wrote"
                    .into(),
            ));
        }
        _ => {}
    }
    // Before it is taken over: after that it is one of the machine's own, which `--force` undoes at
    // once.
    check_logins(allow_logins)?;
    let content = read.adopted(content)?;
    let token = safe_files::token()?;
    safe_files::put(path, &NewFile::of_root(&content, 0o600), &token)?;
    Ok(true)
}
