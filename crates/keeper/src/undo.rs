//! Undoing what a journal says was changed, the newest change first, and seeing that it is undone.

use crate::entry::{Change, Entry, Kind};
use crate::failure::Result;
use crate::journal::{Journal, Known};
use crate::{thing, units};

/// Settings depend on each other: what can't be put back at first may be, once others are.
const ROUNDS: usize = 3;

/// What became of a restoration.
#[derive(Debug, Default)]
pub struct Undone {
    /// The lines that were added to the journal.
    pub lines: Vec<String>,
    /// Why what is still changed is.
    pub problems: Vec<String>,
    /// Whether a boot runs that is not the machine's own: only a reboot undoes that.
    pub reboot: bool,
}

/// Undoes all that is pending. `boot` is the running one; `force`: also what somebody else has
/// changed since.
pub fn undo(journal: &mut Journal, boot: &str, force: bool) -> Result<Undone> {
    let rebooted = journal.begun().boot != boot;
    let mut done = Undone::default();
    let mut put_back = Vec::new();
    for number in journal.pending() {
        let known = &journal.changes()[number];
        thing::clean(&known.change);
        if known.change.kind == Kind::Boot && !is_back(known) {
            done.reboot = true;
            continue;
        }
        let gone = rebooted && known.change.kind.ends_with_the_boot(); // with its kernel
        let problem = if gone || force { None } else { foreign(known) };
        match problem {
            Some(problem) => done.problems.push(problem),
            None => put_back.push(number),
        }
    }
    let is_gone = |change: &Change| rebooted && change.kind.ends_with_the_boot();
    let mut reasons = vec![String::new(); journal.changes().len()];
    for _ in 0..ROUNDS {
        let mut again = false;
        for &number in &put_back {
            let known = &journal.changes()[number];
            if is_gone(&known.change) || is_back(known) && !restarts(known, &reasons[number]) {
                continue;
            }
            again = true;
            reasons[number] =
                thing::put(&known.change).map_or_else(|why| why.to_string(), |()| " ".into());
        }
        if !again {
            break;
        }
    }
    for number in put_back {
        let known = &journal.changes()[number];
        if is_gone(&known.change) || is_back(known) {
            done.lines.push(journal.write(&Entry::Undone { number })?);
        } else {
            let (name, why) = (&known.change.name, reasons[number].trim());
            done.problems.push(format!("{name} is not as it was: {why}"));
        }
    }
    journal.sync()?;
    Ok(done)
}

/// Whether a unit has to be started again once, though it runs: its configuration was changed.
fn restarts(known: &Known, reason: &str) -> bool {
    known.change.kind == Kind::Service
        && units::is_service(&known.change.name)
        && known.change.before.as_deref() == Some(b"active")
        && reason.is_empty()
}

fn is_back(known: &Known) -> bool {
    thing::look(known.change.kind, &known.change.name).is_ok_and(|now| now == known.change)
}

/// Why a change is not to be undone: somebody else has made something else of the thing since.
///
/// What was interrupted while it was being changed may be anything.
fn foreign(known: &Known) -> Option<String> {
    let made = &known.made.as_ref()?.0;
    let (kind, name) = (known.change.kind, known.change.name.as_str());
    let now = thing::look(kind, name).ok()?;
    let expected = now.before == *made || now.before == known.change.before;
    (!expected).then(|| {
        format!(
            "somebody else changed {name} since it was changed for a measurement: it is {}, it was \
             made {}, and it was {} before; it is left as it is",
            shown(now.before.as_deref()),
            shown(made.as_deref()),
            shown(known.change.before.as_deref()),
        )
    })
}

/// A content as a message has it.
fn shown(content: Option<&[u8]>) -> String {
    const MOST: usize = 60;
    match content {
        None => "not there".into(),
        Some(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) if text.len() <= MOST => format!("{:?}", text.trim_end()),
            _ => format!("{} bytes", bytes.len()),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::undo;
    use crate::entry::{Begin, Entry, Kind};
    use crate::journal::Journal;
    use crate::thing;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("keeper-{name}.{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    /// A journal of one file's change from `old` to `new`.
    fn changed(folder: &Path, boot: &str) -> (Journal, PathBuf) {
        let file = folder.join("file");
        fs::write(&file, "old").unwrap();
        let begin = Begin { version: 1, machine: "m".into(), boot: boot.into(), run: "r".into() };
        let (mut journal, _) = Journal::begin(&folder.join("journal"), begin).unwrap();
        let was = thing::look(Kind::File, file.to_str().unwrap()).unwrap();
        journal.write(&Entry::Change(was)).unwrap();
        fs::write(&file, "new").unwrap();
        (journal, file)
    }

    #[test]
    fn a_change_is_undone_once_and_a_file_after_a_reboot_too() {
        for boot in ["this", "another"] {
            let folder = folder(boot);
            let (mut journal, file) = changed(&folder, boot);
            let done = undo(&mut journal, "this", false).unwrap();
            assert_eq!((done.lines.len(), done.problems.len()), (1, 0));
            assert_eq!(fs::read(&file).unwrap(), b"old");
            assert!(Journal::open(&folder.join("journal")).unwrap().unwrap().pending().is_empty());
            assert!(undo(&mut journal, "this", false).unwrap().lines.is_empty());
            fs::remove_dir_all(folder).unwrap();
        }
    }

    #[test]
    fn what_was_being_written_when_it_was_interrupted_goes() {
        let folder = folder("beside");
        let (mut journal, file) = changed(&folder, "this");
        let beside = file.with_extension("hardcost");
        fs::write(&beside, "ne").unwrap();
        assert!(undo(&mut journal, "this", false).unwrap().problems.is_empty());
        assert!(!beside.exists());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_somebody_else_changed_is_left_unless_it_is_forced() {
        let folder = folder("foreign");
        let (mut journal, file) = changed(&folder, "this");
        journal.write(&Entry::Made { number: 0, after: Some(b"new".to_vec()) }).unwrap();
        fs::write(&file, "theirs").unwrap();
        let done = undo(&mut journal, "this", false).unwrap();
        assert!(done.problems[0].contains("somebody else changed"), "{:?}", done.problems);
        assert_eq!(fs::read(&file).unwrap(), b"theirs");
        assert!(undo(&mut journal, "this", true).unwrap().problems.is_empty());
        assert_eq!(fs::read(&file).unwrap(), b"old");
        fs::remove_dir_all(folder).unwrap();
    }
}
