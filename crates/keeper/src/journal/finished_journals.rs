//! Which journals are finished: on disk before anything else forgets them, and for good.
//!
//! The keeper's folder has a name, and numbers its journals. One is open at a time of each kind. So
//! the highest number that was finished stands for all before it.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::entry::Begin;
use crate::failure::{Failure, Result};
use crate::files::{self, New};
use crate::journal::Read;

/// The folder's name, and the highest numbers of finished journals: by whose folder's they were and
/// what they are called.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ledger {
    desk: String,
    finished: BTreeMap<String, u64>,
}

impl Ledger {
    /// The ledger in a file; a new one where there is none.
    pub fn open(path: &Path) -> Result<Self> {
        let Some(found) = files::look(path)? else {
            return Ok(Self { desk: files::token()?, finished: BTreeMap::new() });
        };
        serde_json::from_slice(&found.content).map_err(|error| {
            Failure::Refused(format!(
                "{} can't be read ({error}): nothing was undone; remove it if the machine is as it \
                 should be",
                path.display()
            ))
        })
    }

    /// Returns once it is on disk.
    pub fn write(&self, path: &Path) -> Result<()> {
        let failed = |error| Failure::Failed(format!("{}: {error}", path.display()));
        let text = serde_json::to_vec(self).map_err(failed)?;
        files::put(path, &New::of_root(&text, 0o600), &self.desk)
    }

    /// The name of the folder, which nobody can guess.
    pub fn desk(&self) -> &str {
        &self.desk
    }

    /// The number of the next journal of a name.
    pub fn next(&self, name: &str) -> u64 {
        self.finished.get(&key(&self.desk, name)).map_or(1, |number| number + 1)
    }

    /// Whether a journal was begun in this folder.
    pub fn knows(&self, begin: &Begin) -> bool {
        begin.desk.as_ref() == Some(&self.desk)
    }

    /// Whether a journal of a name is finished.
    pub fn is_finished(&self, journal: &Read, name: &str) -> bool {
        let (whose, number) = journal.identity();
        self.finished.get(&key(whose, name)).is_some_and(|&last| number <= last)
    }

    /// Notes that a journal of a name is finished.
    pub fn finish(&mut self, journal: &Read, name: &str) {
        let (whose, number) = journal.identity();
        let last = self.finished.entry(key(whose, name)).or_default();
        *last = number.max(*last);
    }
}

fn key(whose: &str, name: &str) -> String {
    format!("{whose} {name}")
}

#[cfg(test)]
mod tests {
    use super::Ledger;

    #[test]
    fn a_number_follows_the_one_that_is_finished() {
        let mut ledger = Ledger { desk: "d".into(), ..Ledger::default() };
        assert_eq!(ledger.next("journal"), 1);
        ledger.finished.insert("d journal".into(), 4);
        assert_eq!((ledger.next("journal"), ledger.next("boot-journal")), (5, 1));
    }

    #[test]
    fn what_is_written_is_read_and_what_is_no_ledger_is_refused() {
        let path = std::env::temp_dir().join(format!("keeper-ledger.{}", std::process::id()));
        let ledger = Ledger::open(&path).unwrap();
        ledger.write(&path).unwrap();
        assert_eq!(Ledger::open(&path).unwrap(), ledger);
        std::fs::write(&path, "{").unwrap();
        assert!(Ledger::open(&path).is_err());
        std::fs::remove_file(path).unwrap();
    }
}
