//! What can be changed: looked at, and put back as it was.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::path::Path;

use rustix::fs::OFlags;

use crate::entry::{Change, Kind};
use crate::failure::{Failure, Result, at};
use crate::files::{self, Found, New, Place};
use crate::{auditing, mounts, running, units};

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

/// Makes something what it was; whether it is that then, `look` says. A file is named by `token`
/// while it is written.
pub fn put(was: &Change, token: &str) -> Result<()> {
    let name = was.name.as_str();
    if was.kind == Kind::Boot {
        return Err(Failure::Failed("that takes a reboot".into()));
    }
    let Some(before) = &was.before else { return files::remove(Path::new(name)) };
    match was.kind {
        Kind::File => put_file(was, before, token),
        Kind::Setting | Kind::SecurityModule => write_setting(was.kind, name, before),
        Kind::AuditRules => auditing::put_rules(before),
        Kind::AuditState => auditing::put_state(before),
        Kind::Service => units::put(name, before),
        Kind::Mount => mounts::put(name, before),
        Kind::Boot => Ok(()),
    }
}

/// Gives a file a content and a mode; one that is there keeps its owner, a new one is root's.
pub fn fill(was: &Change, content: &[u8], mode: u32, token: &str) -> Result<()> {
    let (owner, group) = (was.owner, was.group);
    let new = New { content, owner, group, mode, labels: &was.labels };
    files::put(Path::new(&was.name), &new, token)
}

/// A change of what has no owner, mode or labels.
fn plain(kind: Kind, name: &str, before: Option<Vec<u8>>) -> Change {
    Change {
        kind,
        name: name.into(),
        before,
        owner: None,
        group: None,
        mode: None,
        labels: BTreeMap::new(),
        wanted: None,
    }
}

fn check_setting(kind: Kind, path: &str) -> Result<()> {
    let fits = match kind {
        Kind::Setting => path.starts_with("/proc/sys/") && !path.contains("/../"),
        _ => path == ENFORCE,
    };
    if fits {
        return Ok(());
    }
    Err(Failure::Refused(format!("{path} is no setting that is ever changed here")))
}

fn read_setting(kind: Kind, path: &str) -> Result<Vec<u8>> {
    check_setting(kind, path)?;
    let place = Place::there(Path::new(path))?;
    let read = || -> std::io::Result<Vec<u8>> {
        let mut content = Vec::new();
        place.try_open(OFlags::RDONLY)?.read_to_end(&mut content)?;
        Ok(content)
    };
    read().map_err(|error| match error.kind() {
        // In the words that a probe has for it, by which the control to blame is found.
        ErrorKind::NotFound => Failure::Failed(format!("{path}: {error}")),
        _ => {
            Failure::Refused(format!("{path} can't be read, so it could not be put back: {error}"))
        }
    })
}

/// Writes a setting by one call: the kernel takes each for a value of its own.
pub fn write_setting(kind: Kind, path: &str, value: &[u8]) -> Result<()> {
    check_setting(kind, path)?;
    let mut file = Place::there(Path::new(path))?.open(OFlags::WRONLY)?;
    file.write_all(value).map_err(at(Path::new(path)))
}

fn look_at_file(name: &str) -> Result<Change> {
    let Some(found) = files::look(Path::new(name))? else {
        return Ok(plain(Kind::File, name, None));
    };
    let Found { content, owner, group, mode, labels } = found;
    let (owner, group, mode) = (Some(owner), Some(group), Some(mode));
    Ok(Change { owner, group, mode, labels, ..plain(Kind::File, name, Some(content)) })
}

fn put_file(was: &Change, content: &[u8], token: &str) -> Result<()> {
    let about = Place::of(Path::new(&was.name))?.map(|place| place.about()).transpose()?.flatten();
    let is_folder =
        about.is_some_and(|it| rustix::fs::FileType::from_raw_mode(it.st_mode).is_dir());
    if is_folder {
        return Ok(()); // only its absence is ever put back
    }
    fill(was, content, was.mode.unwrap_or(0o600), token)
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
        put(&was, "t").unwrap();
        assert_eq!(look(Kind::File, name).unwrap(), was);
        assert_eq!(was.mode, Some(0o4750));
        put(&absent, "t").unwrap();
        assert!(!path.exists());
        put(&absent, "t").unwrap();
    }

    #[test]
    fn what_is_no_setting_is_refused() {
        for path in ["/etc/passwd", "/proc/sys/../self/attr/current"] {
            assert!(look(Kind::Setting, path).is_err(), "{path}");
        }
    }
}
