//! The kinds of things that can be changed: for each, reading its state and putting it back.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::path::Path;

use rustix::fs::OFlags;

use crate::boot::running_boot;
use crate::changes::{audit, mounts, systemd_units};
use crate::failure::{Failure, Result, at};
use crate::journal::state::{Change, Kind};
use crate::safe_files::{self, FileState, NewFile, SafePath};

const ENFORCE: &str = "/sys/fs/selinux/enforce";

/// The current state of a thing.
pub fn current_state(kind: Kind, name: &str) -> Result<Change> {
    let before = match kind {
        Kind::File => return look_at_file(name),
        Kind::Setting | Kind::SecurityModule => Some(read_setting(kind, name)?),
        Kind::AuditRules => Some(audit::rules()?),
        Kind::AuditState => Some(audit::state()?),
        Kind::Service => Some(systemd_units::state(name)?),
        Kind::Mount => Some(mounts::shown(name)?.into_bytes()),
        Kind::Boot => running_boot::token()?.map(String::into_bytes),
    };
    Ok(plain(kind, name, before))
}

/// Puts a thing back. The caller checks the result with `current_state`. While a file is written,
/// `token` is in its name.
pub fn put_back(was: &Change, token: &str) -> Result<()> {
    let name = was.name.as_str();
    if was.kind == Kind::Boot {
        return Err(Failure::Failed("that takes a reboot".into()));
    }
    let Some(before) = &was.before else { return safe_files::remove(Path::new(name)) };
    match was.kind {
        Kind::File => put_file(was, before, token),
        Kind::Setting | Kind::SecurityModule => write_setting(was.kind, name, before),
        Kind::AuditRules => audit::put_rules(before),
        Kind::AuditState => audit::put_state(before),
        Kind::Service => systemd_units::put(name, before),
        Kind::Mount => mounts::put(name, before),
        Kind::Boot => Ok(()),
    }
}

/// Writes a file with a content and a mode. An existing one keeps its owner, a new one is root's.
pub fn write_file(was: &Change, content: &[u8], mode: u32, token: &str) -> Result<()> {
    let (owner, group) = (was.owner, was.group);
    let new = NewFile { content, owner, group, mode, labels: &was.labels };
    safe_files::put(Path::new(&was.name), &new, token)
}

/// The state of a thing without owner, mode and labels.
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
    let safe_path = SafePath::there(Path::new(path))?;
    let read = || -> std::io::Result<Vec<u8>> {
        let mut content = Vec::new();
        safe_path.try_open(OFlags::RDONLY)?.read_to_end(&mut content)?;
        Ok(content)
    };
    read().map_err(|error| match error.kind() {
        // In the words of the probe, by which the control to blame is found.
        ErrorKind::NotFound => Failure::Failed(format!("{path}: {error}")),
        _ => {
            Failure::Refused(format!("{path} can't be read, so it could not be put back: {error}"))
        }
    })
}

/// Writes a setting in one call: the kernel takes each call for a whole value.
pub fn write_setting(kind: Kind, path: &str, value: &[u8]) -> Result<()> {
    check_setting(kind, path)?;
    let mut file = SafePath::there(Path::new(path))?.open(OFlags::WRONLY)?;
    file.write_all(value).map_err(at(Path::new(path)))
}

fn look_at_file(name: &str) -> Result<Change> {
    let Some(found) = safe_files::look(Path::new(name))? else {
        return Ok(plain(Kind::File, name, None));
    };
    let FileState { content, owner, group, mode, labels } = found;
    let (owner, group, mode) = (Some(owner), Some(group), Some(mode));
    Ok(Change { owner, group, mode, labels, ..plain(Kind::File, name, Some(content)) })
}

fn put_file(was: &Change, content: &[u8], token: &str) -> Result<()> {
    let about = SafePath::of(Path::new(&was.name))?
        .map(|safe_path| safe_path.about())
        .transpose()?
        .flatten();
    let is_folder =
        about.is_some_and(|it| rustix::fs::FileType::from_raw_mode(it.st_mode).is_dir());
    if is_folder {
        return Ok(()); // a folder is only ever removed
    }
    write_file(was, content, was.mode.unwrap_or(0o600), token)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::{current_state, put_back};
    use crate::journal::state::Kind;

    #[test]
    fn a_file_comes_back_with_bytes_and_mode_and_what_was_not_there_goes() {
        let path = std::env::temp_dir().join(format!("keeper-thing.{}", std::process::id()));
        let name = path.to_str().unwrap();
        let absent = current_state(Kind::File, name).unwrap();
        assert_eq!(absent.before, None);
        fs::write(&path, b"old\0\n").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o4750)).unwrap();
        let was = current_state(Kind::File, name).unwrap();
        fs::write(&path, "new").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        put_back(&was, "t").unwrap();
        assert_eq!(current_state(Kind::File, name).unwrap(), was);
        assert_eq!(was.mode, Some(0o4750));
        put_back(&absent, "t").unwrap();
        assert!(!path.exists());
        put_back(&absent, "t").unwrap();
    }

    #[test]
    fn what_is_no_setting_is_refused() {
        for path in ["/etc/passwd", "/proc/sys/../self/attr/current"] {
            assert!(current_state(Kind::Setting, path).is_err(), "{path}");
        }
    }
}
