//! Creates directories and files that audit rules name: they must exist before rules are loaded.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

/// How many paths were created, and the inodes of all.
#[derive(Debug)]
pub struct CreatedPaths {
    /// How many directories were missing.
    pub directories: usize,
    /// How many files were missing.
    pub files: usize,
    /// The inode's number by path. Links to a directory are followed; of a file that is a link it
    /// is the link's own number. The kernel reads the paths of its rules in the same way.
    pub inodes: BTreeMap<String, u64>,
}

/// Creates missing directories and empty files, and their parents, which are not counted.
///
/// # Errors
///
/// The system's, with the path at which it occurred.
pub fn create(directories: &[String], files: &[String]) -> io::Result<CreatedPaths> {
    let mut created = CreatedPaths { directories: 0, files: 0, inodes: BTreeMap::new() };
    for path in directories {
        created.directories += usize::from(!Path::new(path).exists());
        directory(Path::new(path))?;
    }
    for path in files {
        create_parents(path)?;
        match File::options().write(true).create_new(true).mode(0o644).open(path) {
            Ok(_) => created.files += 1,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(at(Path::new(path), &error)),
        }
    }
    let found = directories.iter().map(|path| (path, fs::metadata(path)));
    for (path, found) in found.chain(files.iter().map(|path| (path, fs::symlink_metadata(path)))) {
        let found = found.map_err(|error| at(Path::new(path), &error))?;
        created.inodes.insert(path.clone(), found.ino());
    }
    Ok(created)
}

/// Creates the missing directories above a path.
///
/// # Errors
///
/// The system's, with the path of the directory.
pub fn create_parents(path: &str) -> io::Result<()> {
    Path::new(path).parent().map_or(Ok(()), directory)
}

fn directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o755).create(path).map_err(|error| at(path, &error))
}

fn at(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
