//! Directories and files that audit rules name: they must be there before the rules are loaded.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

/// What was made, and which inodes the paths have.
#[derive(Debug)]
pub struct Made {
    /// How many directories were missing.
    pub directories: usize,
    /// How many files were missing.
    pub files: usize,
    /// The inode's number by path: of a directory, links followed, or of what itself has the name,
    /// as the kernel takes the paths of its rules.
    pub inodes: BTreeMap<String, u64>,
}

/// Makes directories and empty files where they are missing; their parents too, uncounted.
///
/// # Errors
///
/// The system's, with the path at which it occurred.
pub fn make(directories: &[String], files: &[String]) -> io::Result<Made> {
    let mut made = Made { directories: 0, files: 0, inodes: BTreeMap::new() };
    for path in directories {
        made.directories += usize::from(!Path::new(path).exists());
        directory(Path::new(path))?;
    }
    for path in files {
        parents(path)?;
        match File::options().write(true).create_new(true).mode(0o644).open(path) {
            Ok(_) => made.files += 1,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(at(Path::new(path), &error)),
        }
    }
    let found = directories.iter().map(|path| (path, fs::metadata(path)));
    for (path, found) in found.chain(files.iter().map(|path| (path, fs::symlink_metadata(path)))) {
        let found = found.map_err(|error| at(Path::new(path), &error))?;
        made.inodes.insert(path.clone(), found.ino());
    }
    Ok(made)
}

/// Makes the directories above a path where they are missing.
///
/// # Errors
///
/// The system's, with the path of the directory.
pub fn parents(path: &str) -> io::Result<()> {
    Path::new(path).parent().map_or(Ok(()), directory)
}

fn directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o755).create(path).map_err(|error| at(path, &error))
}

fn at(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
