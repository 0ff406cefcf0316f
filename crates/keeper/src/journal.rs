//! The journal: a file of lines to which lines are only appended, each an entry as JSON behind a
//! hash of the line before it and of its own text.
//!
//! `src/hardcost/machines/real/journal.py` reads the same lines, and says what they are for.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use sha2::{Digest, Sha256};

use crate::entry::{Begin, Change, Entry};
use crate::failure::{Failure, Result, at};

/// The largest journal that is read.
const MOST_BYTES: u64 = 64 << 20;
/// Stands for the line before the first.
const FIRST: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// A journal that is being written, or was read.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    last: String,
    begin: Begin,
    changes: Vec<Known>,
}

/// What a thing was seen to be; nothing: it was not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen(pub Option<Vec<u8>>);

/// A change, with what is known of it.
#[derive(Clone, Debug)]
pub struct Known {
    /// What was there before.
    pub change: Change,
    /// What it made, if it was made.
    pub made: Option<Seen>,
    /// Whether it is undone.
    pub undone: bool,
}

impl Journal {
    /// Begins a journal; returns its first line too.
    pub fn begin(path: &Path, begin: Begin) -> Result<(Self, String)> {
        let file = File::options().write(true).create_new(true).open(path).map_err(at(path))?;
        let (path, last) = (path.to_owned(), FIRST.to_owned());
        let mut journal = Self { path, file, last, begin: begin.clone(), changes: Vec::new() };
        let line = journal.write(&Entry::Begin(begin))?;
        Ok((journal, line))
    }

    /// Reads a journal to go on with it; `None` where there is none, or no whole line in it.
    pub fn open(path: &Path) -> Result<Option<Self>> {
        if !path.exists() {
            return Ok(None);
        }
        let size = fs::metadata(path).map_err(at(path))?.len();
        if size > MOST_BYTES {
            return Err(damaged(path, 0, "is larger than any that is written"));
        }
        let content = fs::read(path).map_err(at(path))?;
        let Some(read) = Read::of(&content, path)? else { return Ok(None) };
        let file = File::options().append(true).open(path).map_err(at(path))?;
        // A line that was cut off is about something that was not changed yet.
        file.set_len(read.size).map_err(at(path))?;
        let path = path.to_owned();
        Ok(Some(Self { path, file, last: read.last, begin: read.begin, changes: read.changes }))
    }

    /// What the journal begins with.
    pub fn begun(&self) -> &Begin {
        &self.begin
    }

    /// The changes, the oldest first.
    pub fn changes(&self) -> &[Known] {
        &self.changes
    }

    /// The numbers of the changes that are to be undone, the newest first.
    pub fn pending(&self) -> Vec<usize> {
        (0..self.changes.len()).rev().filter(|&at| !self.changes[at].undone).collect()
    }

    /// Appends an entry and returns its line, which is on disk only after `sync`.
    pub fn write(&mut self, entry: &Entry) -> Result<String> {
        let text = serde_json::to_string(entry)
            .map_err(|error| Failure::Failed(format!("{}: {error}", self.path.display())))?;
        let hash = chained(&self.last, &text);
        let line = format!("{hash} {text}");
        self.file.write_all(format!("{line}\n").as_bytes()).map_err(at(&self.path))?;
        self.last = hash;
        note(&mut self.changes, entry.clone());
        Ok(line)
    }

    /// Returns once all lines are on disk, and the file's name in its folder.
    pub fn sync(&self) -> Result<()> {
        self.file.sync_all().map_err(at(&self.path))?;
        sync_folder(&self.path)
    }
}

/// Has a file's name be on disk in its folder.
pub fn sync_folder(path: &Path) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder_fd =
        rustix::fs::open(folder, flags, Mode::empty()).map_err(|e| at(folder)(e.into()))?;
    rustix::fs::fsync(folder_fd).map_err(|error| at(folder)(error.into()))
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

/// What lines say.
struct Read {
    begin: Begin,
    changes: Vec<Known>,
    last: String,
    size: u64,
}

impl Read {
    fn of(content: &[u8], path: &Path) -> Result<Option<Self>> {
        let mut read: Option<Self> = None;
        let (mut last, mut size) = (FIRST.to_owned(), 0);
        let mut lines: Vec<&[u8]> = content.split(|&byte| byte == b'\n').collect();
        lines.pop(); // what follows the last newline was cut off, or is nothing
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
                (None, Entry::Begin(begin)) => {
                    Some(Self { begin, changes: Vec::new(), last: String::new(), size: 0 })
                }
                (Some(mut read), entry) if fits(&read.changes, &entry) => {
                    note(&mut read.changes, entry);
                    Some(read)
                }
                _ => return Err(wrong("does not follow from the lines before it")),
            };
        }
        Ok(read.map(|read| Self { last, size, ..read }))
    }
}

fn fits(changes: &[Known], entry: &Entry) -> bool {
    match entry {
        Entry::Begin(_) => false,
        Entry::Change(_) => true,
        Entry::Made { number, .. } | Entry::Undone { number } => {
            changes.get(*number).is_some_and(|known| !known.undone)
        }
    }
}

fn note(changes: &mut Vec<Known>, entry: Entry) {
    match entry {
        Entry::Begin(_) => {}
        Entry::Change(change) => changes.push(Known { change, made: None, undone: false }),
        Entry::Made { number, after } => changes[number].made = Some(Seen(after)),
        Entry::Undone { number } => changes[number].undone = true,
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

    use super::{Journal, Seen};
    use crate::entry::{Begin, Change, Entry, Kind};

    fn place(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("keeper-{name}.{}", std::process::id()));
        let _ = fs::remove_file(&path);
        path
    }

    fn begin() -> Begin {
        Begin { version: 1, machine: "m".into(), boot: "b".into(), run: "r".into() }
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
        })
    }

    #[test]
    fn what_is_written_is_read_and_a_cut_line_is_left_out() {
        let path = place("cut");
        let (mut journal, _) = Journal::begin(&path, begin()).unwrap();
        for entry in [change("a"), change("b"), Entry::Made { number: 0, after: None }] {
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
        assert_eq!(journal.changes()[0].made, Some(Seen(None)));
        assert_eq!(journal.begun(), &begin());
        assert_eq!(fs::read(&path).unwrap(), whole);
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn an_edited_line_is_refused() {
        let path = place("edited");
        let (mut journal, _) = Journal::begin(&path, begin()).unwrap();
        journal.write(&change("a")).unwrap();
        let text = fs::read_to_string(&path).unwrap().replace("\"a\"", "\"c\"");
        fs::write(&path, text).unwrap();
        let refused = Journal::open(&path).unwrap_err().to_string();
        assert!(refused.contains("line 2 was changed"), "{refused}");
        fs::remove_file(path).unwrap();
    }
}
