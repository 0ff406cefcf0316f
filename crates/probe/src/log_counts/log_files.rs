//! The files of a rotated log, read line by line.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind};

use memchr::memmem;

use crate::error::{Context, Result};

/// How many bytes of a log are read at once.
const PORTION: usize = 64 << 10;

/// The counts of a log.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct LogCounts {
    /// Numbers by name.
    pub numbers: BTreeMap<&'static str, u64>,
    /// How often each text occurred.
    pub texts: BTreeMap<String, u64>,
}

/// The files of a rotated log, the oldest first: `path.2`, `path.1`, `path`.
pub fn rotated(path: &str) -> Vec<String> {
    let older = (1..).map(|number: u32| format!("{path}.{number}"));
    let mut files: Vec<_> = older.take_while(|file| File::open(file).is_ok()).collect();
    files.reverse();
    files.push(path.to_owned());
    files
}

/// Calls `take` with each line of a file, without its newline. Returns the file's size in bytes, or
/// none if it does not exist.
pub fn each_line(path: &str, mut take: impl FnMut(&[u8])) -> Result<Option<u64>> {
    let file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        file => file.context(|| path.to_owned())?,
    };
    let mut reader = BufReader::with_capacity(PORTION, file);
    let (mut line, mut size) = (Vec::new(), 0);
    loop {
        line.clear();
        let length = reader.read_until(b'\n', &mut line).context(|| path.to_owned())?;
        if length == 0 {
            return Ok(Some(size));
        }
        size += length as u64;
        take(line.strip_suffix(b"\n").unwrap_or(&line));
    }
}

/// The rest of a line behind the first `mark`.
pub fn after<'a>(line: &'a [u8], mark: &str) -> Option<&'a [u8]> {
    memmem::find(line, mark.as_bytes()).map(|start| &line[start + mark.len()..])
}

/// Whether a line contains a text.
pub fn has(line: &[u8], text: &str) -> bool {
    memmem::find(line, text.as_bytes()).is_some()
}

/// A record of auditd without the name of its machine: `type=…`.
pub fn without_node(record: &[u8]) -> &[u8] {
    let Some(rest) = record.strip_prefix(b"node=") else { return record };
    memchr::memchr(b' ', rest).map_or(record, |end| &rest[end + 1..])
}

#[cfg(test)]
pub mod tests {
    use std::fs;
    use std::path::Path;

    use tempfile::TempDir;

    use super::{each_line, rotated, without_node};

    /// A log file in a temporary folder.
    pub struct Sample(TempDir);

    impl Sample {
        pub fn new(content: impl AsRef<[u8]>) -> Self {
            let folder = tempfile::tempdir().expect("room");
            fs::write(folder.path().join("log"), content).expect("room");
            Self(folder)
        }

        pub fn path(&self) -> String {
            self.0.path().join("log").to_string_lossy().into_owned()
        }

        pub fn older(&self, number: u32, content: &str) {
            fs::write(self.0.path().join(format!("log.{number}")), content).expect("room");
        }
    }

    #[test]
    fn older_files_come_first_and_a_gap_ends_them() {
        let log = Sample::new("");
        log.older(1, "");
        log.older(2, "");
        log.older(4, "");
        let files = rotated(&log.path());
        let names: Vec<_> = files.iter().map(|file| Path::new(file).file_name()).collect();
        assert_eq!(names, ["log.2", "log.1", "log"].map(|name| Some(name.as_ref())));
    }

    #[test]
    fn every_line_is_seen_with_or_without_an_end() {
        let log = Sample::new(b"one\n\n\xff\xfe\nlast");
        let mut seen = Vec::new();
        let size = each_line(&log.path(), |line| seen.push(line.to_vec())).expect("readable");
        assert_eq!(size, Some(12));
        assert_eq!(seen, [b"one".to_vec(), vec![], b"\xff\xfe".to_vec(), b"last".to_vec()]);
        assert_eq!(each_line("/no/such/file", |_| panic!("a line")).expect("no error"), None);
        assert!(each_line("/", |_| ()).is_err());
    }

    #[test]
    fn a_record_may_name_its_machine_first() {
        assert_eq!(without_node(b"node=web1 type=CWD x"), b"type=CWD x");
        assert_eq!(without_node(b"type=CWD node=web1"), b"type=CWD node=web1");
        assert_eq!(without_node(b"node=web1"), b"node=web1");
    }
}
