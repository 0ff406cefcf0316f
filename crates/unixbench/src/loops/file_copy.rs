//! A file copied in blocks of a fixed size, over and over, within the page cache.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

use crate::fault::{Context, Result, check};
use crate::test_loop::{TestLoop, WorkFolder};
use crate::test_names::{LARGE, MIDDLE, SMALL, Test};

const KIB: usize = 1024;

/// Two open files: the source with its content, the target already as large.
pub struct FileCopy<const BLOCK: usize> {
    paths: [PathBuf; 2],
    source: File,
    target: File,
    blocks: usize,
    done: usize,
    content: Vec<u8>,
}

impl<const BLOCK: usize> FileCopy<BLOCK> {
    /// Makes both files, and writes them to the disk.
    pub fn new(test: Test, folder: &WorkFolder) -> Result<Self> {
        let size = [SMALL, MIDDLE, LARGE].iter().find(|shape| shape.block == BLOCK);
        let content = noise(size.map_or(BLOCK, |shape| shape.file * KIB));
        let paths = ["source", "target"].map(|end| folder.file(&format!("{}.{end}", test.name())));
        let [source, target] = [filled(&paths[0], &content), filled(&paths[1], &[])];
        let (source, target) = (source?, target?);
        let mut copying =
            Self { source, target, blocks: content.len() / BLOCK, done: 0, content, paths };
        for _ in 0..copying.blocks {
            copying.once()?;
        }
        copying.target.sync_all().context(|| "writing the copy to the disk".into())?;
        Ok(copying)
    }
}

/// A new file with that content, on the disk, open for reading and writing at its beginning.
fn filled(path: &PathBuf, content: &[u8]) -> Result<File> {
    let what = || format!("making {}", path.display());
    let mut options = File::options();
    let mut file =
        options.read(true).write(true).create(true).truncate(true).open(path).context(what)?;
    file.write_all(content).context(what)?;
    file.sync_all().context(what)?;
    file.rewind().context(what)?;
    Ok(file)
}

/// That many bytes without repetition, always the same.
fn noise(size: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut bytes = Vec::with_capacity(size + 8);
    while bytes.len() < size {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        bytes.extend_from_slice(&(state >> 24).to_le_bytes()[..4]);
    }
    bytes.truncate(size);
    bytes
}

impl<const BLOCK: usize> TestLoop for FileCopy<BLOCK> {
    // A block is at most four KiB.
    #[allow(clippy::cast_precision_loss)]
    const OPERATIONS: f64 = BLOCK as f64 / KIB as f64;

    fn once(&mut self) -> Result<()> {
        if self.done == self.blocks {
            for file in [&mut self.source, &mut self.target] {
                file.seek(SeekFrom::Start(0)).context(|| "going back to the beginning".into())?;
            }
            self.done = 0;
        }
        let mut block = [0; BLOCK];
        self.source.read_exact(&mut block).context(|| "reading a block".into())?;
        self.target.write_all(&block).context(|| "writing a block".into())?;
        self.done += 1;
        Ok(())
    }

    fn finish(self, _loops: u64) -> Result<()> {
        let copy = fs::read(&self.paths[1]).context(|| "reading the copy".into())?;
        check(copy == self.content, || "the copy is not equal to its source".into())?;
        for path in &self.paths {
            fs::remove_file(path).context(|| format!("removing {}", path.display()))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::FileCopy;
    use crate::test_loop::{TestLoop, WorkFolder};
    use crate::test_names::{SMALL, Test};

    fn copying(temporary: &TempDir) -> FileCopy<{ SMALL.block }> {
        let folder = WorkFolder { folder: temporary.path().to_owned(), number: 0 };
        FileCopy::new(Test::Copy(SMALL), &folder).unwrap()
    }

    #[test]
    fn copies_are_equal_and_nothing_stays_behind() {
        let folder = tempfile::tempdir().unwrap();
        let mut work = copying(&folder);
        for _ in 0..2 * work.blocks + 3 {
            work.once().unwrap();
        }
        assert_eq!(work.finish(0), Ok(()));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    }

    #[test]
    fn a_copy_that_was_changed_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let work = copying(&folder);
        fs::write(&work.paths[1], b"other").unwrap();
        assert!(work.finish(0).is_err());
    }
}
