//! Which journals are finished. That is on disk before the journal itself goes, and never
//! forgotten.
//!
//! The state folder has a name, and numbers its journals. One journal of each name is open at a
//! time. So the highest finished number stands for all below it.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::failure::{Failure, Result};
use crate::journal::entry::Begin;
use crate::journal::file::JournalContent;
use crate::safe_files::{self, NewFile};

/// The folder's name, and the highest numbers of finished journals, by the name of their folder and
/// their own.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FinishedJournals {
    #[serde(rename = "desk")]
    folder: String,
    finished: BTreeMap<String, u64>,
}

impl FinishedJournals {
    /// Reads the file; without one, begins a new list.
    pub fn open(path: &Path) -> Result<Self> {
        let Some(found) = safe_files::look(path)? else {
            return Ok(Self { folder: safe_files::token()?, finished: BTreeMap::new() });
        };
        serde_json::from_slice(&found.content).map_err(|error| {
            Failure::Refused(format!(
                "{} can't be read ({error}): nothing was undone; remove it if the machine is as it \
                 should be",
                path.display()
            ))
        })
    }

    /// Writes the file. Returns once it is on disk.
    pub fn write(&self, path: &Path) -> Result<()> {
        let failed = |error| Failure::Failed(format!("{}: {error}", path.display()));
        let text = serde_json::to_vec(self).map_err(failed)?;
        safe_files::put(path, &NewFile::of_root(&text, 0o600), &self.folder)
    }

    /// The unguessable name of the folder.
    pub fn folder_name(&self) -> &str {
        &self.folder
    }

    /// The number of the next journal of a name.
    pub fn next(&self, name: &str) -> u64 {
        self.finished.get(&key(&self.folder, name)).map_or(1, |number| number + 1)
    }

    /// Whether a journal was begun in this folder.
    pub fn knows(&self, begin: &Begin) -> bool {
        begin.folder.as_ref() == Some(&self.folder)
    }

    /// Whether a journal of a name is finished.
    pub fn is_finished(&self, journal: &JournalContent, name: &str) -> bool {
        let (whose, number) = journal.identity();
        self.finished.get(&key(whose, name)).is_some_and(|&last| number <= last)
    }

    /// Notes that a journal of a name is finished.
    pub fn finish(&mut self, journal: &JournalContent, name: &str) {
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
    use super::FinishedJournals;

    #[test]
    fn a_number_follows_the_one_that_is_finished() {
        let mut journals = FinishedJournals { folder: "d".into(), ..FinishedJournals::default() };
        assert_eq!(journals.next("journal"), 1);
        journals.finished.insert("d journal".into(), 4);
        assert_eq!((journals.next("journal"), journals.next("boot-journal")), (5, 1));
    }

    #[test]
    fn what_is_written_is_read_and_what_is_no_ledger_is_refused() {
        let path = std::env::temp_dir().join(format!("keeper-ledger.{}", std::process::id()));
        let journals = FinishedJournals::open(&path).unwrap();
        journals.write(&path).unwrap();
        assert_eq!(FinishedJournals::open(&path).unwrap(), journals);
        std::fs::write(&path, "{").unwrap();
        assert!(FinishedJournals::open(&path).is_err());
        std::fs::remove_file(path).unwrap();
    }
}
