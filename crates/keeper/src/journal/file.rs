//! The journal's file. Lines are only appended. Each is an entry as JSON, behind a hash of the line
//! before it and of its own text.
//!
//! `src/hardcost/machines/real/journal.py` reads the same lines, and explains their purpose.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use sha2::{Digest, Sha256};

use crate::failure::{Failure, Result, at};
use crate::journal::entry::{Begin, Entry, VERSION};
use crate::journal::state::{Change, Kind, StateAfter};
use crate::safe_files::{self, SafePath};

/// The largest journal that is read.
const MOST_BYTES: u64 = 64 << 20;
/// The hash before the first line.
const FIRST: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// A journal that is being written, or was read.
#[derive(Debug)]
pub struct Journal {
    safe_path: SafePath,
    path: PathBuf,
    file: File,
    read: JournalContent,
    token: String,
}

/// A change with what is known of it.
#[derive(Clone, Debug)]
pub struct KnownChange {
    /// The state before it.
    pub change: Change,
    /// Whether it was begun.
    pub making: bool,
    /// The state that it made, if it was made.
    pub made: Option<StateAfter>,
    /// Whether others were seen to have changed the thing since.
    pub left: bool,
    /// Whether it is undone.
    pub undone: bool,
}

impl Journal {
    /// Begins a journal. Returns its first line, too.
    pub fn begin(path: &Path, begin: Begin) -> Result<(Self, String)> {
        let safe_path = SafePath::there(path)?;
        let file = safe_path.open(OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL)?;
        let read = JournalContent { last: FIRST.into(), ..JournalContent::begun(begin.clone()) };
        let token = begin.token.clone().map_or_else(safe_files::token, Ok)?;
        let mut journal = Self { safe_path, path: path.to_owned(), file, read, token };
        let line = journal.write(&Entry::Begin(begin))?;
        Ok((journal, line))
    }

    /// Opens a journal to continue it; `None` if there is none, or no complete line in it.
    pub fn open(path: &Path) -> Result<Option<Self>> {
        let Some(safe_path) = SafePath::of(path)? else { return Ok(None) };
        if safe_path.about()?.is_none() {
            return Ok(None);
        }
        let file = safe_path.open(OFlags::RDWR | OFlags::APPEND)?;
        let mut content = Vec::new();
        (&file).take(MOST_BYTES + 1).read_to_end(&mut content).map_err(at(path))?;
        let Some(read) = JournalContent::of(&content, path)? else { return Ok(None) };
        // A line that was cut off is about something that was not changed yet.
        file.set_len(read.size).map_err(at(path))?;
        let token = read.begin.token.clone().map_or_else(safe_files::token, Ok)?;
        Ok(Some(Self { safe_path, path: path.to_owned(), file, read, token }))
    }

    /// Parses a journal that the other side kept; `None` without a complete line.
    pub fn given(content: &[u8]) -> Result<Option<JournalContent>> {
        JournalContent::of(content, Path::new("the journal that was brought"))
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its content.
    pub fn read(&self) -> &JournalContent {
        &self.read
    }

    /// Its first entry.
    pub fn begun(&self) -> &Begin {
        &self.read.begin
    }

    /// An unguessable part of files' names while they are written.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Whether the journal notes each change that was begun.
    pub fn says_all(&self) -> bool {
        self.read.begin.version >= VERSION && !self.read.adopted
    }

    /// The changes, the oldest first.
    pub fn changes(&self) -> &[KnownChange] {
        &self.read.changes
    }

    /// The numbers of the changes to be undone, the newest first.
    pub fn pending(&self) -> Vec<usize> {
        self.read.pending()
    }

    /// Appends an entry and returns its line, which is on disk only after `sync`.
    pub fn write(&mut self, entry: &Entry) -> Result<String> {
        let (hash, line) = next(&self.read.last, entry)?;
        self.file.write_all(format!("{line}\n").as_bytes()).map_err(at(&self.path))?;
        self.read.last = hash;
        self.read.note(entry.clone());
        Ok(line)
    }

    /// Waits until all lines are on disk, and the file's name in its folder.
    pub fn sync(&self) -> Result<()> {
        self.file.sync_all().map_err(at(&self.path))?;
        self.safe_path.sync()
    }
}

/// The hash of an entry's line, and the line.
fn next(last: &str, entry: &Entry) -> Result<(String, String)> {
    let text = serde_json::to_string(entry)
        .map_err(|error| Failure::Failed(format!("an entry of a journal: {error}")))?;
    let hash = chained(last, &text);
    let line = format!("{hash} {text}");
    Ok((hash, line))
}

/// SHA-256 in hexadecimal digits.
pub fn sha256(text: &[u8]) -> String {
    Sha256::digest(text).iter().fold(String::new(), |mut digits, byte| {
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}

fn chained(last: &str, text: &str) -> String {
    sha256(format!("{last} {text}").as_bytes())
}

/// The content of a journal.
#[derive(Debug)]
pub struct JournalContent {
    /// The first entry.
    pub begin: Begin,
    /// The length of its complete lines, in bytes.
    pub size: u64,
    changes: Vec<KnownChange>,
    last: String,
    planned: String,
    adopted: bool,
}

impl JournalContent {
    fn begun(begin: Begin) -> Self {
        let (last, planned) = (String::new(), String::new());
        Self { begin, size: 0, changes: Vec::new(), last, planned, adopted: false }
    }

    fn of(content: &[u8], path: &Path) -> Result<Option<Self>> {
        if content.len() as u64 > MOST_BYTES {
            return Err(damaged(path, 0, "is larger than any that is written"));
        }
        let mut read: Option<Self> = None;
        let (mut last, mut size) = (FIRST.to_owned(), 0);
        let mut lines: Vec<&[u8]> = content.split(|&byte| byte == b'\n').collect();
        lines.pop(); // what follows the last newline was cut off, or is empty
        for (index, line) in lines.into_iter().enumerate() {
            let wrong = |why| damaged(path, index + 1, why);
            let text = std::str::from_utf8(line).map_err(|_| wrong("is no text"))?;
            let (hash, body) = text.split_once(' ').ok_or_else(|| wrong("is none of a journal"))?;
            if hash != chained(&last, body) {
                return Err(wrong("was changed, or a line before it"));
            }
            hash.clone_into(&mut last);
            size += line.len() as u64 + 1;
            let entry: Entry =
                serde_json::from_str(body).map_err(|_| wrong("has a wrong field"))?;
            read = match (read, entry) {
                (None, Entry::Begin(begin)) if begin.version <= VERSION => Some(Self::begun(begin)),
                (Some(mut read), entry) if read.fits(&entry) => {
                    if matches!(entry, Entry::Change(_)) {
                        read.planned.clone_from(&last);
                    }
                    read.note(entry);
                    Some(read)
                }
                _ => return Err(wrong("does not follow from the lines before it")),
            };
        }
        Ok(read.map(|read| Self { size, last, ..read }))
    }

    /// What identifies this journal among all of its name, and its number among those.
    ///
    /// One of version 1 has no number: the hash of what it planned identifies it.
    pub fn identity(&self) -> (&str, u64) {
        match (&self.begin.folder, self.begin.number) {
            (Some(folder), Some(number)) => (folder, number),
            _ => (&self.planned, 0),
        }
    }

    /// Whether it is a boot's, whose first change is always the boot.
    pub fn is_of_boot(&self) -> Option<bool> {
        self.changes.first().map(|known| known.change.kind == Kind::Boot)
    }

    /// The numbers of the changes to be undone, the newest first.
    pub fn pending(&self) -> Vec<usize> {
        (0..self.changes.len()).rev().filter(|&at| !self.changes[at].undone).collect()
    }

    /// The lines as they were brought, with an entry that notes this.
    pub fn adopted(&self, content: &[u8]) -> Result<Vec<u8>> {
        let whole = usize::try_from(self.size).unwrap_or(usize::MAX).min(content.len());
        let (_, line) = next(&self.last, &Entry::Adopted)?;
        Ok([&content[..whole], line.as_bytes(), b"\n"].concat())
    }

    fn fits(&self, entry: &Entry) -> bool {
        match entry {
            Entry::Begin(_) => false,
            Entry::Change(_) | Entry::Adopted => true,
            Entry::Made(StateAfter { number, .. })
            | Entry::Making { number }
            | Entry::Left { number }
            | Entry::Undone { number } => {
                self.changes.get(*number).is_some_and(|known| !known.undone)
            }
        }
    }

    fn note(&mut self, entry: Entry) {
        let changes = &mut self.changes;
        match entry {
            Entry::Begin(_) => {}
            Entry::Adopted => self.adopted = true,
            Entry::Change(change) => changes.push(KnownChange {
                change,
                making: false,
                made: None,
                left: false,
                undone: false,
            }),
            Entry::Making { number } => changes[number].making = true,
            Entry::Made(made) => {
                let number = made.number;
                changes[number].made = Some(made);
            }
            Entry::Left { number } => changes[number].left = true,
            Entry::Undone { number } => changes[number].undone = true,
        }
    }
}

fn damaged(path: &Path, line: usize, why: &str) -> Failure {
    let place = path.display();
    Failure::Refused(format!(
        "{place}: line {line} {why}: nothing was undone; compare the machine with it by hand"
    ))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::path::PathBuf;

    use super::Journal;
    use crate::journal::entry::{Begin, Entry};
    use crate::journal::state::{Change, Kind, StateAfter};

    fn journal_path(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("keeper-{name}.{}", std::process::id()));
        let _ = fs::remove_file(&path);
        path
    }

    fn begin() -> Begin {
        Begin {
            version: 2,
            machine: "m".into(),
            boot: "b".into(),
            run: "r".into(),
            folder: Some("d".into()),
            number: Some(1),
            token: Some("t".into()),
        }
    }

    fn change(name: &str) -> Entry {
        Entry::Change(Change {
            kind: Kind::Setting,
            name: name.into(),
            before: Some(b"1\n".to_vec()),
            owner: None,
            group: None,
            mode: None,
            labels: BTreeMap::new(),
            wanted: None,
        })
    }

    #[test]
    fn what_is_written_is_read_and_a_cut_line_is_left_out() {
        let path = journal_path("cut");
        let (mut journal, _) = Journal::begin(&path, begin()).unwrap();
        let made = StateAfter {
            number: 0,
            after: None,
            owner: None,
            group: None,
            mode: None,
            labels: BTreeMap::new(),
        };
        for entry in [change("a"), change("b"), Entry::Made(made.clone())] {
            journal.write(&entry).unwrap();
        }
        journal.write(&Entry::Undone { number: 1 }).unwrap();
        journal.sync().unwrap();
        let whole = fs::read(&path).unwrap();
        let mut cut = whole.clone();
        cut.extend(b"0123 {\"entr");
        fs::write(&path, cut).unwrap();
        let journal = Journal::open(&path).unwrap().unwrap();
        assert_eq!(journal.pending(), [0]);
        assert_eq!(journal.changes()[0].made, Some(made));
        assert_eq!(journal.begun(), &begin());
        assert_eq!(fs::read(&path).unwrap(), whole);
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn an_edited_line_is_refused() {
        let path = journal_path("edited");
        let (mut journal, _) = Journal::begin(&path, begin()).unwrap();
        journal.write(&change("a")).unwrap();
        let text = fs::read_to_string(&path).unwrap().replace("\"a\"", "\"c\"");
        fs::write(&path, text).unwrap();
        let refused = Journal::open(&path).unwrap_err().to_string();
        assert!(refused.contains("line 2 was changed"), "{refused}");
        fs::remove_file(path).unwrap();
    }
}
