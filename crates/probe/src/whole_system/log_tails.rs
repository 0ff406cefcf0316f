//! The ends of files, to explain what went wrong.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// The end of each of several files' text, by path.
pub type Logs = BTreeMap<String, String>;

/// How much of a log's end is reported, in bytes.
pub const SHOWN: u64 = 8 << 10;
/// How much is read of a file that does not say how long it is, such as those of `/proc`.
const MOST: u64 = 4 << 20;

/// The last `most` bytes of a file, and how many it has.
pub fn tail(path: &str, most: u64) -> io::Result<(Vec<u8>, u64)> {
    let mut file = File::open(path)?;
    let size = file.metadata()?.len();
    let skipped = size.saturating_sub(most);
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(skipped))?;
    file.take(MOST.max(most)).read_to_end(&mut bytes)?;
    let read = bytes.len() as u64;
    // The file may have grown, or may not have shown its size.
    let surplus = usize::try_from(read.saturating_sub(most)).unwrap_or(0);
    bytes.drain(..surplus);
    Ok((bytes, skipped + read))
}

/// The same as text, as far as there is any.
pub fn add(logs: &mut Logs, path: &str) {
    if let Ok((bytes, _)) = tail(path, SHOWN) {
        logs.insert(path.to_owned(), String::from_utf8_lossy(&bytes).into_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::{Logs, add, tail};

    #[test]
    fn the_end_of_a_file_is_told_with_its_size() {
        let folder = tempfile::tempdir().expect("room");
        let path = folder.path().join("tail").to_string_lossy().into_owned();
        std::fs::write(&path, "0123456789").expect("room");
        assert_eq!(tail(&path, 3).expect("there"), (b"789".to_vec(), 10));
        assert_eq!(tail(&path, 99).expect("there"), (b"0123456789".to_vec(), 10));
        let mut logs = Logs::new();
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
