//! The request for mount options.

use std::fs;

use rustix::mount::{MountFlags, mount_bind, mount_remount};

use crate::error::{Context, Error, Result};
use crate::protocol::Answer;

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

/// Mounts a directory on itself, with options on top of those that hold there already.
pub fn mount(path: String, options: &[String]) -> Result<Answer> {
    let mut flags = MountFlags::BIND;
    for option in options {
        flags |= flag(option)
            .ok_or_else(|| Error::Other(format!("mount of {path}: no option {option:?}")))?;
    }
    mount_bind(&path, &path).context(|| format!("mounting {path}"))?;
    // What is not named when options are changed is taken away.
    let held = shown(&path)?;
    flags |= held.iter().filter_map(|option| flag(option)).collect::<MountFlags>();
    mount_remount(&path, flags, "").context(|| format!("mounting {path}"))?;
    Ok(Answer::Mounted { options: shown(&path)?, path })
}

fn flag(option: &str) -> Option<MountFlags> {
    OPTIONS.iter().find(|(name, _)| *name == option).map(|&(_, flag)| flag)
}

/// The options that the kernel shows for what is mounted at a path.
fn shown(path: &str) -> Result<Vec<String>> {
    let mounts = fs::read_to_string(MOUNTS).context(|| MOUNTS.into())?;
    options(path, &mounts).ok_or_else(|| Error::Other(format!("nothing is mounted at {path}")))
}

/// The same, out of the kernel's list, in which the last mount at a place is the one to be seen.
fn options(path: &str, mounts: &str) -> Option<Vec<String>> {
    let path = path.replace('\\', "\\134").replace(' ', "\\040").replace('\t', "\\011");
    let mut fields = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let last = fields.rfind(|fields| fields.len() > 5 && fields[4] == path)?;
    Some(last[5].split(',').map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::{flag, options};

    const MOUNTS: &str = "21 1 259:0 / / rw,relatime shared:1 - ext4 /dev/pmem0 rw\n\
        25 21 0:22 / /tmp rw,nosuid,nodev - tmpfs tmpfs rw\n\
        26 25 0:22 / /tmp rw,nosuid,nodev,noexec,relatime - tmpfs tmpfs rw\n\
        27 21 0:23 / /a\\040b ro - tmpfs tmpfs rw\n";

    #[test]
    fn of_several_mounts_at_a_place_the_last_counts() {
        let expected = ["rw", "nosuid", "nodev", "noexec", "relatime"];
        assert_eq!(options("/tmp", MOUNTS).expect("mounted"), expected);
        assert_eq!(options("/a b", MOUNTS).expect("mounted"), ["ro"]);
        assert_eq!(options("/nowhere", MOUNTS), None);
    }

    #[test]
    fn only_options_of_a_mount_are_known() {
        assert!(flag("noexec").is_some() && flag("nosymfollow").is_some());
        assert!(flag("rw").is_none() && flag("size=1m").is_none());
    }
}
