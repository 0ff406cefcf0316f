//! Requests that make, write and read files, and that write settings.

use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hardcost_linux::rule_paths;
use rustix::fs::{statvfs, sync};

use crate::error::{Context, Error, Result};
use crate::protocol::Answer;
use crate::whole_system::{group_id, tail, user_id};

/// Makes directories and empty files where they are missing.
pub fn make(directories: &[String], files: &[String]) -> Result<Answer> {
    let created =
        rule_paths::create(directories, files).map_err(|why| Error::Other(why.to_string()))?;
    Ok(Answer::Made {
        directories: created.directories,
        files: created.files,
        inodes: created.inodes,
    })
}

/// Writes a file.
pub fn install(path: String, mode: u32, content: &str, owner: &Owner) -> Result<Answer> {
    let content = BASE64_STANDARD.decode(content);
    let content =
        content.map_err(|why| Error::Other(format!("{path}: its content is not base64: {why}")))?;
    rule_paths::create_parents(&path).map_err(|why| Error::Other(why.to_string()))?;
    fs::write(&path, &content).map_err(|source| full(&path, source))?;
    if owner.user.is_some() || owner.group.is_some() {
        let user = owner.user.as_deref().map(user_id).transpose()?;
        let group = owner.group.as_deref().map(group_id).transpose()?;
        chown(&path, user, group).context(|| path.clone())?;
    }
    // After the write, because an existing file may have another mode.
    fs::set_permissions(&path, Permissions::from_mode(mode)).context(|| path.clone())?;
    Ok(Answer::Installed { path, bytes: content.len() })
}

/// A file's owner, by name or number; none: the writer.
#[derive(Debug, Default)]
pub struct Owner {
    /// The user.
    pub user: Option<String>,
    /// The group.
    pub group: Option<String>,
}

/// Adds to a full disk's error how much room there is.
fn full(path: &str, source: io::Error) -> Error {
    if source.kind() != ErrorKind::StorageFull {
        return Error::System { what: path.to_owned(), source };
    }
    let place = Path::new(path).parent().unwrap_or(Path::new("/"));
    let room = statvfs(place).map_or_else(
        |_| String::new(),
        |room| format!(" ({} bytes free, {} files)", room.f_bavail * room.f_frsize, room.f_favail),
    );
    Error::Other(format!("{path}: {source}{room}"))
}

/// Reads the end of a file.
pub fn read_end(name: String, path: String, most: u64) -> Result<Answer> {
    match tail(&path, most) {
        Ok((text, bytes)) => {
            let text = Some(String::from_utf8_lossy(&text).into_owned());
            Ok(Answer::Content { name, path, text, bytes: Some(bytes) })
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Ok(Answer::Content { name, path, text: None, bytes: None })
        }
        Err(error) => Err(error).context(|| path),
    }
}

/// Writes back dirty pages, and drops the kernel's caches of files.
pub fn drop_caches() -> Result<Answer> {
    const DROP: &str = "/proc/sys/vm/drop_caches";
    sync();
    // 1 drops pages, 2 names and inodes.
    fs::write(DROP, "3").context(|| DROP.into())?;
    Ok(Answer::Dropped {})
}

/// Writes a setting; answers with its old and new value.
pub fn write(path: String, value: Option<&str>) -> Result<Answer> {
    let before = read(&path);
    let unreadable = || Error::Other(format!("{path}: its own value can't be read"));
    let value = value.or(before.as_deref()).ok_or_else(unreadable)?.to_owned();
    // In one call of write: the kernel takes each call for a whole value.
    File::options()
        .write(true)
        .truncate(true)
        .open(&path)
        .and_then(|mut file| file.write_all(value.as_bytes()))
        .context(|| path.clone())?;
    let after = read(&path);
    Ok(Answer::Written { path, before, after })
}

/// A setting without the newline at its end; `None` where it cannot be read.
fn read(path: &str) -> Option<String> {
    let text = String::from_utf8_lossy(&fs::read(path).ok()?).into_owned();
    Some(text.strip_suffix('\n').map(str::to_owned).unwrap_or(text))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Owner, install, make, write};
    use crate::protocol::Answer;

    #[test]
    fn files_are_made_installed_and_written() {
        let root = tempfile::tempdir().expect("room");
        let path = |name: &str| root.path().join(name).to_string_lossy().into_owned();
        let (directories, files) = ([path("a/b")], [path("a/b/c"), path("d/e")]);
        let made = make(&directories, &files).expect("made");
        let Answer::Made { directories: 1, files: 2, inodes } = made else {
            panic!("another answer");
        };
        let numbers: BTreeSet<_> = inodes.values().collect();
        assert_eq!((inodes.len(), numbers.len()), (3, 3));
        assert!(inodes.contains_key(&path("a/b/c")));
        let again = make(&directories, &files).expect("existing is fine");
        assert!(matches!(again, Answer::Made { directories: 0, files: 0, .. }));

        let installed = install(path("f/g"), 0o755, "MAo=", &Owner::default()).expect("installed");
        assert!(matches!(installed, Answer::Installed { bytes: 2, .. }));
        let Answer::Written { before, after, .. } = write(path("f/g"), Some("1")).expect("written")
        else {
            panic!("another answer");
        };
        assert_eq!((before.as_deref(), after.as_deref()), (Some("0"), Some("1")));

        let error =
            write(path("missing"), Some("1")).expect_err("there is no such setting").to_string();
        assert!(error.starts_with(&path("missing")) && error.contains("No such file"), "{error}");
    }
}
