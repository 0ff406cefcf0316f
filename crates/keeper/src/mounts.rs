//! Mount options, by mounting again what is mounted.

use std::fs;

use rustix::mount::{MountFlags, mount_remount};

use crate::failure::{Failure, Result};

const MOUNTS: &str = "/proc/self/mountinfo";
/// The options that hold for a mount, and not for the whole file system.
const OPTIONS: [(&str, MountFlags); 8] = [
    ("ro", MountFlags::RDONLY),
    ("nosuid", MountFlags::NOSUID),
    ("nodev", MountFlags::NODEV),
    ("noexec", MountFlags::NOEXEC),
    ("noatime", MountFlags::NOATIME),
    ("nodiratime", MountFlags::NODIRATIME),
    ("relatime", MountFlags::RELATIME),
    ("nosymfollow", MountFlags::from_bits_retain(256)),
];

/// The options of what is mounted at a path, as the kernel shows them.
pub fn shown(path: &str) -> Result<Vec<u8>> {
    let mounts = fs::read_to_string(MOUNTS)
        .map_err(|error| Failure::Failed(format!("{MOUNTS}: {error}")))?;
    let found = options(path, &mounts).ok_or_else(|| {
        Failure::Refused(format!(
            "{path} is not mounted on its own, and only what is can have other options"
        ))
    })?;
    Ok(found.as_bytes().to_vec())
}

/// Adds options to those that a mount has.
pub fn add(path: &str, options: &[String]) -> Result<()> {
    let shown = shown(path)?;
    let mut all = flags(&shown);
    for option in options {
        let known = OPTIONS.iter().find(|(name, _)| name == option);
        let refused = || Failure::Refused(format!("mount of {path}: no option {option:?}"));
        all |= known.ok_or_else(refused)?.1;
    }
    remount(path, all)
}

/// Makes the options those that the kernel has shown.
pub fn put(path: &str, shown: &[u8]) -> Result<()> {
    remount(path, flags(shown))
}

fn remount(path: &str, flags: MountFlags) -> Result<()> {
    mount_remount(path, flags | MountFlags::BIND, "")
        .map_err(|error| Failure::Failed(format!("mount of {path}: {error}")))
}

fn flags(shown: &[u8]) -> MountFlags {
    let names: Vec<_> = shown.split(|&byte| byte == b',').collect();
    let held = OPTIONS.iter().filter(|(name, _)| names.contains(&name.as_bytes()));
    held.map(|&(_, flag)| flag).collect()
}

/// The same, out of the kernel's list, in which the last mount at a place is the one to be seen.
fn options<'a>(path: &str, mounts: &'a str) -> Option<&'a str> {
    let path = path.replace('\\', "\\134").replace(' ', "\\040").replace('\t', "\\011");
    let mut fields = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    fields.rfind(|fields| fields.len() > 5 && fields[4] == path).map(|fields| fields[5])
}

#[cfg(test)]
mod tests {
    use super::{MountFlags, flags, options};

    #[test]
    fn the_last_mount_at_a_place_counts_and_options_come_back_as_they_were() {
        let mounts = "25 21 0:22 / /a\\040b rw - tmpfs tmpfs rw\n\
            26 25 0:22 / /a\\040b rw,nosuid,relatime - tmpfs tmpfs rw\n";
        assert_eq!(options("/a b", mounts), Some("rw,nosuid,relatime"));
        assert_eq!(options("/a", mounts), None);
        assert_eq!(flags(b"rw,nosuid,relatime"), MountFlags::NOSUID | MountFlags::RELATIME);
    }
}
