//! What can be changed: looked at, and put back as it was.

use std::collections::BTreeMap;
use std::fs::{self, File, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use rustix::fs::{XattrFlags, fsetxattr, lgetxattr, llistxattr};

use crate::entry::{Bytes, Change, Kind};
use crate::failure::{Failure, Result, at};
use crate::journal::sync_folder;
use crate::{auditing, mounts, running, units};

/// The largest file that is changed.
const MOST_BYTES: u64 = 16 << 20;
/// Where extended attributes are read to; Linux has none that are longer.
const LONGEST_LABEL: usize = 64 << 10;
const ENFORCE: &str = "/sys/fs/selinux/enforce";

/// Something as it is now.
pub fn look(kind: Kind, name: &str) -> Result<Change> {
    let before = match kind {
        Kind::File => return look_at_file(name),
        Kind::Setting | Kind::SecurityModule => Some(read_setting(kind, name)?),
        Kind::AuditRules => Some(auditing::rules()?),
        Kind::AuditState => Some(auditing::state()?),
        Kind::Service => Some(units::state(name)?),
        Kind::Mount => Some(mounts::shown(name)?.into_bytes()),
        Kind::Boot => running::token()?.map(String::into_bytes),
    };
    Ok(plain(kind, name, before))
}

/// Makes something what it was; whether it is that then, `look` says.
pub fn put(was: &Change) -> Result<()> {
    let name = was.name.as_str();
    if was.kind == Kind::Boot {
        return Err(Failure::Failed("that takes a reboot".into()));
    }
    let Some(before) = &was.before else { return remove(name) };
    match was.kind {
        Kind::File => put_file(was, before),
        Kind::Setting | Kind::SecurityModule => write_setting(name, before),
        Kind::AuditRules => auditing::put_rules(before),
        Kind::AuditState => auditing::put_state(before),
        Kind::Service => units::put(name, before),
        Kind::Mount => mounts::put(name, before),
        Kind::Boot => Ok(()),
    }
}

/// Gives a file a content and a mode; one that is there keeps its owner, a new one is root's.
pub fn fill(was: &Change, content: Vec<u8>, mode: u32) -> Result<()> {
    put(&Change {
        owner: was.owner.or(Some(0)),
        group: was.group.or(Some(0)),
        mode: Some(mode),
        before: Some(content),
        ..was.clone()
    })
}

/// A change of what has no owner, mode or labels.
fn plain(kind: Kind, name: &str, before: Option<Vec<u8>>) -> Change {
    let labels = BTreeMap::new();
    Change { kind, name: name.into(), before, owner: None, group: None, mode: None, labels }
}

fn read_setting(kind: Kind, path: &str) -> Result<Vec<u8>> {
    let fits = match kind {
        Kind::Setting => path.starts_with("/proc/sys/") && !path.contains("/../"),
        _ => path == ENFORCE,
    };
    if !fits {
        return Err(Failure::Refused(format!("{path} is no setting that is ever changed here")));
    }
    fs::read(path).map_err(|error| match error.kind() {
        // In the words that a probe has for it, by which the control to blame is found.
        ErrorKind::NotFound => Failure::Failed(format!("{path}: {error}")),
        _ => {
            Failure::Refused(format!("{path} can't be read, so it could not be put back: {error}"))
        }
    })
}

/// Writes a setting by one call: the kernel takes each for a value of its own.
pub fn write_setting(path: &str, value: &[u8]) -> Result<()> {
    let mut file = File::options().write(true).open(path).map_err(at(Path::new(path)))?;
    file.write_all(value).map_err(at(Path::new(path)))
}

fn look_at_file(name: &str) -> Result<Change> {
    let path = Path::new(name);
    let about = match fs::symlink_metadata(path) {
        Ok(about) => about,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Ok(plain(Kind::File, name, None));
        }
        Err(error) => return Err(at(path)(error)),
    };
    if !about.is_file() && !about.is_dir() || about.len() > MOST_BYTES && about.is_file() {
        return Err(Failure::Refused(format!("{name} is no file of a usual size")));
    }
    let content = if about.is_dir() { Vec::new() } else { fs::read(path).map_err(at(path))? };
    Ok(Change {
        kind: Kind::File,
        name: name.into(),
        before: Some(content),
        owner: Some(about.uid()),
        group: Some(about.gid()),
        mode: Some(about.mode() & 0o7777),
        labels: labels(path)?,
    })
}

/// The extended attributes of a file; none where its file system has none.
fn labels(path: &Path) -> Result<BTreeMap<String, Bytes>> {
    let mut names = vec![0; LONGEST_LABEL];
    let Ok(length) = llistxattr(path, &mut names[..]) else { return Ok(BTreeMap::new()) };
    let mut found = BTreeMap::new();
    for name in names[..length].split(|&byte| byte == 0).filter(|name| !name.is_empty()) {
        let mut value = vec![0; LONGEST_LABEL];
        let size = lgetxattr(path, name, &mut value[..]).map_err(|error| at(path)(error.into()))?;
        value.truncate(size);
        found.insert(String::from_utf8_lossy(name).into_owned(), Bytes(Some(value)));
    }
    Ok(found)
}

/// Puts a file back in one step: whoever reads it meets the one or the other.
fn put_file(was: &Change, content: &[u8]) -> Result<()> {
    let path = Path::new(&was.name);
    if path.is_dir() {
        return Ok(()); // only its absence is ever put back
    }
    let beside = beside(&was.name);
    let failed = at(&beside);
    let mut file = File::create(&beside).map_err(&failed)?;
    file.write_all(content).map_err(&failed)?;
    fchown(&file, was.owner, was.group).map_err(&failed)?;
    let mode = was.mode.unwrap_or(0o600);
    file.set_permissions(Permissions::from_mode(mode)).map_err(&failed)?;
    for (name, value) in &was.labels {
        let value = value.0.as_deref().unwrap_or_default();
        fsetxattr(&file, name.as_str(), value, XattrFlags::empty())
            .map_err(|error| failed(error.into()))?;
    }
    file.sync_all().map_err(&failed)?;
    fs::rename(&beside, path).map_err(at(path))?;
    sync_folder(path)
}

/// Where a file is written before it takes its place.
fn beside(name: &str) -> PathBuf {
    PathBuf::from(format!("{name}.hardcost"))
}

/// Removes what a change that was interrupted has left beside a file.
pub fn clean(change: &Change) {
    if change.kind == Kind::File {
        let _ = fs::remove_file(beside(&change.name)); // it is rarely there
    }
}

/// Removes what was made: a file, or a folder with nothing in it.
fn remove(name: &str) -> Result<()> {
    let path = Path::new(name);
    let removed = if path.is_dir() { fs::remove_dir(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(at(path)(error)),
        _ if path.parent().is_some_and(Path::exists) => sync_folder(path),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::{look, put};
    use crate::entry::Kind;

    #[test]
    fn a_file_comes_back_with_bytes_and_mode_and_what_was_not_there_goes() {
        let path = std::env::temp_dir().join(format!("keeper-thing.{}", std::process::id()));
        let name = path.to_str().unwrap();
        let absent = look(Kind::File, name).unwrap();
        assert_eq!(absent.before, None);
        fs::write(&path, b"old\0\n").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o4750)).unwrap();
        let was = look(Kind::File, name).unwrap();
        fs::write(&path, "new").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        put(&was).unwrap();
        assert_eq!(look(Kind::File, name).unwrap(), was);
        assert_eq!(was.mode, Some(0o4750));
        put(&absent).unwrap();
        assert!(!path.exists());
        put(&absent).unwrap();
    }

    #[test]
    fn what_is_no_setting_is_refused() {
        for path in ["/etc/passwd", "/proc/sys/../self/attr/current"] {
            assert!(look(Kind::Setting, path).is_err(), "{path}");
        }
    }
}
