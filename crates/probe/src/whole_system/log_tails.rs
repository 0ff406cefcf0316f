//! The ends of log files, which explain failures.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// The ends of several files as text, by path.
pub type LogTails = BTreeMap<String, String>;

/// How many bytes of a log's end are reported.
pub const SHOWN: u64 = 8 << 10;
/// How many bytes are read of a file that shows no size, such as those of `/proc`.
const MOST: u64 = 4 << 20;

/// The last `most` bytes of a file, and its size.
pub fn tail(path: &str, most: u64) -> io::Result<(Vec<u8>, u64)> {
    let mut file = File::open(path)?;
    let size = file.metadata()?.len();
    let skipped = size.saturating_sub(most);
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(skipped))?;
    file.take(MOST.max(most)).read_to_end(&mut bytes)?;
    let read = bytes.len() as u64;
    // The file may have grown, or shown no size.
    let surplus = usize::try_from(read.saturating_sub(most)).unwrap_or(0);
    bytes.drain(..surplus);
    Ok((bytes, skipped + read))
}

/// Adds a file's end as text, if the file can be read.
pub fn add(logs: &mut LogTails, path: &str) {
    if let Ok((bytes, _)) = tail(path, SHOWN) {
        logs.insert(path.to_owned(), String::from_utf8_lossy(&bytes).into_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::{LogTails, add, tail};

    #[test]
    fn the_end_of_a_file_is_told_with_its_size() {
        let folder = tempfile::tempdir().expect("room");
        let path = folder.path().join("tail").to_string_lossy().into_owned();
        std::fs::write(&path, "0123456789").expect("room");
        assert_eq!(tail(&path, 3).expect("there"), (b"789".to_vec(), 10));
        assert_eq!(tail(&path, 99).expect("there"), (b"0123456789".to_vec(), 10));
        let mut logs = LogTails::new();
        add(&mut logs, &path);
        add(&mut logs, "/no/such/file");
        assert_eq!(logs.into_iter().collect::<Vec<_>>(), [(path.clone(), "0123456789".into())]);
    }

    #[test]
    fn a_file_that_does_not_tell_its_size_is_read() {
        let (end, size) = tail("/proc/self/status", 10).expect("there");
        assert!(end.len() == 10 && size > 100 && end.ends_with(b"\n"));
    }
}
