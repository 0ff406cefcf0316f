//! Undoing the changes of a journal, the newest first, and verifying that they are undone.
//!
//! A change is undone only if the thing is still what the change made of it. What others have
//! changed since is left to them.

use std::collections::BTreeSet;

use crate::boot::grub;
use crate::changes::{kinds, systemd_units};
use crate::failure::{Failure, Result};
use crate::journal::entry::Entry;
use crate::journal::file::{Journal, KnownChange};
use crate::journal::state::{Change, Kind, StateAfter};
use crate::safe_files;

/// Settings depend on each other: one that can't be put back at first may be later.
const ROUNDS: usize = 3;

/// The result of undoing.
#[derive(Debug, Default)]
pub struct UndoResult {
    /// The lines that were added to the journal.
    pub lines: Vec<String>,
    /// How many changes were undone.
    pub changes: usize,
    /// Why things are still changed.
    pub problems: Vec<String>,
    /// What others have changed since, which is left as it is.
    pub left: Vec<String>,
    /// Whether a boot runs that is not the machine's own: only a reboot undoes that.
    pub reboot: bool,
}

/// Whose state a thing is in.
enum Ownership {
    /// Nothing was written.
    Untouched,
    /// That before the change, that after it, or one in between.
    Ours,
    /// Another's, with the reason.
    Theirs(String),
}

/// The state that a thing must have in the end.
struct Target {
    number: usize,
    state: Change,
    /// Whether this state undoes the change, and does not only keep what others have made.
    undoes: bool,
    /// Why it is not reached; a blank: it was tried.
    reason: String,
}

/// Undoes all pending changes. `boot` is the running one. `force`: also what others have changed
/// since.
pub fn undo(journal: &mut Journal, boot: &str, force: bool) -> Result<UndoResult> {
    let rebooted = journal.begun().boot != boot;
    let token = journal.token().to_owned();
    let mut done = UndoResult::default();
    let mut targets = Vec::new();
    for number in journal.pending() {
        let known = &journal.changes()[number];
        let kind = known.change.kind;
        if kind == Kind::File {
            safe_files::clean(known.change.name.as_ref(), &token);
        }
        let now = kinds::current_state(kind, &known.change.name);
        if rebooted && kind.ends_with_the_boot() {
            done.lines.push(journal.write(&Entry::Undone { number })?);
            done.changes += 1;
            continue;
        }
        if kind == Kind::Boot && !now.as_ref().is_ok_and(|now| known.change.is_back(now)) {
            done.reboot = true;
            continue;
        }
        let undoes =
            Target { number, state: known.change.clone(), undoes: true, reason: String::new() };
        match ownership(known, journal.says_all(), &now) {
            Ownership::Untouched => done.lines.push(journal.write(&Entry::Undone { number })?),
            Ownership::Theirs(why) if !force => {
                if !known.left {
                    done.lines.push(journal.write(&Entry::Left { number })?);
                }
                done.left.push(why);
                if let Some(state) = now.ok().and_then(|now| to_keep(&undoes.state, now)) {
                    targets.push(Target { state, undoes: false, ..undoes });
                }
            }
            Ownership::Ours | Ownership::Theirs(_) => targets.push(undoes),
        }
    }
    journal.sync()?; // so that what others changed stays theirs
    put_back(&mut targets, &token);
    for Target { number, state, undoes, reason } in targets {
        if is_back(&state) && !undoes {
            continue;
        }
        if state.before.is_none() && safe_files::is_filled(state.name.as_ref()) {
            done.lines.push(journal.write(&Entry::Left { number })?);
            done.left.push(format!(
                "{} was made for a measurement, and others have put files into it: it is left",
                state.name
            ));
        } else if !is_back(&state) {
            done.problems.push(format!("{} is not as it was: {}", state.name, reason.trim()));
        } else {
            done.lines.push(journal.write(&Entry::Undone { number })?);
            done.changes += 1;
        }
    }
    journal.sync()?;
    Ok(done)
}

/// What of others' state must be kept: settings, which putting back another one may change, and
/// GRUB's environment, from which the keeper's entry is removed.
fn to_keep(before: &Change, now: Change) -> Option<Change> {
    match now.kind {
        Kind::Setting => Some(now),
        Kind::File if grub::is_environment(&now.name) => {
            let (block, old) = (now.before.as_deref()?, before.before.as_deref());
            let without = grub::without_entry(block, old.unwrap_or_default())?;
            Some(Change { before: Some(without), ..now })
        }
        _ => None,
    }
}

/// Puts everything into its final state, as far as possible.
fn put_back(targets: &mut [Target], token: &str) {
    for _ in 0..ROUNDS {
        let mut again = false;
        for target in &mut *targets {
            if is_back(&target.state) && !restarts(target) {
                continue;
            }
            again = true;
            let put = kinds::put_back(&target.state, token);
            target.reason = put.map_or_else(|why| why.to_string(), |()| " ".into());
        }
        if !again {
            break;
        }
    }
}

/// Whether a running unit must be restarted once, because its configuration was changed.
fn restarts(target: &Target) -> bool {
    target.state.kind == Kind::Service
        && systemd_units::is_service(&target.state.name)
        && target.state.before.as_deref() == Some(b"active")
        && target.reason.is_empty()
}

fn is_back(state: &Change) -> bool {
    kinds::current_state(state.kind, &state.name).is_ok_and(|now| state.is_back(&now))
}

/// Whose state a thing is in. `says_all`: the journal notes which changes were begun.
fn ownership(known: &KnownChange, says_all: bool, now: &Result<Change>) -> Ownership {
    let KnownChange { change, making, made, left, .. } = known;
    let untouched = says_all && !making;
    let now = match now {
        Ok(now) if *left && !change.is_back(now) => {
            return Ownership::Theirs(describe_foreign(known, now));
        }
        Ok(now) => now,
        Err(_) if untouched => return Ownership::Untouched,
        // A link or device is there, or on the way: it was not when the keeper wrote.
        Err(why @ Failure::Refused(_)) if change.kind == Kind::File => {
            return Ownership::Theirs(format!(
                "others changed {} since it was changed for a measurement: {why}; it is left",
                change.name
            ));
        }
        Err(_) => return Ownership::Ours, // it is tried, and the reason of a failure is reported
    };
    let is_ours = change.is_back(now)
        || match made {
            Some(made) => made.is_still(now),
            None if untouched => return Ownership::Untouched,
            None => match &change.wanted {
                Some(wanted) => is_written(change.kind, wanted, now.before.as_deref()),
                None if change.kind == Kind::File && grub::is_environment(&change.name) => {
                    let bytes = |it: &Change| it.before.clone().unwrap_or_default();
                    grub::is_same_but_for_boot(&bytes(change), &bytes(now))
                }
                // A change that was interrupted may have left anything.
                None => says_all,
            },
        };
    if is_ours { Ownership::Ours } else { Ownership::Theirs(describe_foreign(known, now)) }
}

/// Whether a content is the one that was written. The kernel has its own blanks in settings, and
/// its own order of mount options.
pub fn is_written(kind: Kind, wanted: &[u8], now: Option<&[u8]>) -> bool {
    let words = |bytes: &[u8]| -> Vec<Vec<u8>> {
        let all = bytes.split(|byte| byte.is_ascii_whitespace() || *byte == b',');
        all.filter(|word| !word.is_empty()).map(<[u8]>::to_vec).collect()
    };
    let sorted = |bytes: &[u8]| words(bytes).into_iter().collect::<BTreeSet<_>>();
    now.is_some_and(|now| match kind {
        Kind::Setting | Kind::SecurityModule => words(wanted) == words(now),
        Kind::Mount => sorted(wanted) == sorted(now),
        _ => wanted == now,
    })
}

/// What others have made of a thing, for a message.
fn describe_foreign(known: &KnownChange, now: &Change) -> String {
    let KnownChange { change, made, .. } = known;
    let content = made.as_ref().map_or(change.wanted.as_ref(), |made| made.after.as_ref());
    let written = match (made, content) {
        (None, None) => "what the journal does not say".into(),
        _ => shown(content.map(Vec::as_slice)),
    };
    let about = match made {
        Some(StateAfter { after, owner, group, mode, .. }) if *after == now.before => format!(
            ", of which owner, mode or labels differ ({} instead of {})",
            rights(now.owner, now.group, now.mode),
            rights(*owner, *group, *mode)
        ),
        _ => String::new(),
    };
    format!(
        "others changed {} since it was changed for a measurement: it is {}{about}, hardcost \
         had written {written}, and it was {} before; it is left as it is",
        change.name,
        shown(now.before.as_deref()),
        shown(change.before.as_deref()),
    )
}

fn rights(owner: Option<u32>, group: Option<u32>, mode: Option<u32>) -> String {
    let number = |id: Option<u32>| id.map_or("?".into(), |id| id.to_string());
    format!("{}:{} {:04o}", number(owner), number(group), mode.unwrap_or_default())
}

/// A content, for a message.
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
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::{Path, PathBuf};

    use super::undo;
    use crate::changes::kinds;
    use crate::journal::entry::{Begin, Entry, VERSION};
    use crate::journal::file::Journal;
    use crate::journal::state::{Change, Kind, StateAfter};

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("keeper-{name}.{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    /// A new journal, and the state of a file that is to become `new`.
    fn planned(folder: &Path, boot: &str, version: u32, file: &Path) -> (Journal, Change) {
        let id = |text: &str| (version > 1).then(|| text.to_owned());
        let begin = Begin {
            version,
            machine: "m".into(),
            boot: boot.into(),
            run: "r".into(),
            folder: id("d"),
            number: (version > 1).then_some(1),
            token: id("t"),
        };
        let (journal, _) = Journal::begin(&folder.join("journal"), begin).unwrap();
        let was = kinds::current_state(Kind::File, file.to_str().unwrap()).unwrap();
        (journal, Change { wanted: (version > 1).then(|| b"new".to_vec()), ..was })
    }

    fn made(file: &Path) -> Entry {
        Entry::Made(StateAfter::of(
            0,
            kinds::current_state(Kind::File, file.to_str().unwrap()).unwrap(),
        ))
    }

    /// A journal with a file's change from `old` to `new`.
    fn changed(folder: &Path, boot: &str) -> (Journal, PathBuf) {
        let file = folder.join("file");
        fs::write(&file, "old").unwrap();
        let (mut journal, was) = planned(folder, boot, VERSION, &file);
        journal.write(&Entry::Change(was)).unwrap();
        journal.write(&Entry::Making { number: 0 }).unwrap();
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
    fn what_was_being_written_goes_and_what_only_looks_like_it_stays() {
        let folder = folder("beside");
        let (mut journal, file) = changed(&folder, "this");
        let (ours, users) = (folder.join(".hardcost-t"), file.with_extension("hardcost"));
        fs::write(&ours, "ne").unwrap();
        fs::write(&users, "mine").unwrap();
        assert!(undo(&mut journal, "this", false).unwrap().problems.is_empty());
        assert!(!ours.exists());
        assert_eq!(fs::read(&users).unwrap(), b"mine");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_somebody_else_changed_is_left_for_good_unless_it_is_forced() {
        let folder = folder("foreign");
        let (mut journal, file) = changed(&folder, "this");
        journal.write(&made(&file)).unwrap();
        fs::write(&file, "theirs").unwrap();
        let done = undo(&mut journal, "this", false).unwrap();
        assert!(done.left[0].contains("others changed"), "{:?}", done.left);
        assert!(done.problems.is_empty());
        assert_eq!(fs::read(&file).unwrap(), b"theirs");
        fs::write(&file, "new").unwrap(); // theirs now equals the keeper's
        assert_eq!(undo(&mut journal, "this", false).unwrap().left.len(), 1);
        assert_eq!(fs::read(&file).unwrap(), b"new");
        let done = undo(&mut journal, "this", true).unwrap();
        assert!(done.left.is_empty() && done.problems.is_empty());
        assert_eq!(fs::read(&file).unwrap(), b"old");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_file_of_another_mode_is_somebody_elses() {
        let folder = folder("mode");
        let (mut journal, file) = changed(&folder, "this");
        journal.write(&made(&file)).unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        let done = undo(&mut journal, "this", false).unwrap();
        assert!(done.left[0].contains("0640 instead of"), "{:?}", done.left);
        assert_eq!(fs::read(&file).unwrap(), b"new");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_was_never_begun_is_not_undone_though_it_has_the_value() {
        let folder = folder("unbegun");
        let file = folder.join("file");
        fs::write(&file, "old").unwrap();
        let (mut journal, was) = planned(&folder, "this", VERSION, &file);
        journal.write(&Entry::Change(was)).unwrap();
        fs::write(&file, "new").unwrap(); // by another: the journal does not say that the change was begun
        let done = undo(&mut journal, "this", true).unwrap();
        assert_eq!((done.lines.len(), done.changes, done.left.len()), (1, 0, 0));
        assert_eq!(fs::read(&file).unwrap(), b"new");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_change_that_was_interrupted_is_undone_only_if_it_is_what_was_wanted() {
        for (now, after) in [("new", "old"), ("theirs", "theirs")] {
            let folder = folder("making");
            let (mut journal, file) = changed(&folder, "this");
            fs::write(&file, now).unwrap();
            undo(&mut journal, "this", false).unwrap();
            assert_eq!(fs::read(&file).unwrap(), after.as_bytes());
            fs::remove_dir_all(folder).unwrap();
        }
    }

    #[test]
    fn the_first_version_says_too_little_to_undo_what_it_may_have_written() {
        let folder = folder("first");
        let file = folder.join("file");
        fs::write(&file, "old").unwrap();
        let (mut journal, was) = planned(&folder, "this", 1, &file);
        journal.write(&Entry::Change(was)).unwrap();
        fs::write(&file, "new").unwrap();
        let done = undo(&mut journal, "this", false).unwrap();
        assert!(done.left[0].contains("what the journal does not say"), "{:?}", done.left);
        assert_eq!(fs::read(&file).unwrap(), b"new");
        undo(&mut journal, "this", true).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"old");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_link_in_the_place_of_a_file_or_on_the_way_is_left_and_not_followed() {
        for on_the_way in [false, true] {
            let folder = folder("link");
            let inner = folder.join("inner");
            fs::create_dir(&inner).unwrap();
            let (mut journal, file) = changed(&inner, "this");
            let other = folder.join("other");
            fs::create_dir(&other).unwrap();
            fs::write(other.join("file"), "new").unwrap();
            if on_the_way {
                fs::rename(&inner, folder.join("moved")).unwrap();
                symlink(&other, &inner).unwrap();
            } else {
                fs::remove_file(&file).unwrap();
                symlink(other.join("file"), &file).unwrap();
            }
            // The journal's own file is still at its old path.
            let done = undo(&mut journal, "this", false).unwrap();
            assert!(done.left[0].contains("symbolic link"), "{done:?}");
            assert_eq!(fs::read(other.join("file")).unwrap(), b"new");
            fs::remove_dir_all(folder).unwrap();
        }
    }
}
