//! The options of a mount, as names and as flags, and those that the kernel shows.

use std::{fs, io};

use rustix::mount::MountFlags;

const MOUNTS: &str = "/proc/self/mountinfo";

/// The options that belong to a mount, and not to the whole file system.
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

/// The flag of an option, if it belongs to a mount.
#[must_use]
pub fn flag(option: &str) -> Option<MountFlags> {
    OPTIONS.iter().find(|(name, _)| *name == option).map(|&(_, flag)| flag)
}

/// The flags of all options that belong to a mount, from options joined by commas.
#[must_use]
pub fn flags(options: &str) -> MountFlags {
    options.split(',').filter_map(flag).collect()
}

/// The options that the kernel shows for the mount at a path, joined by commas; `None` if there is
/// none.
///
/// # Errors
///
/// The kernel's list can't be read.
pub fn of_mount(path: &str) -> io::Result<Option<String>> {
    let mounts = fs::read_to_string(MOUNTS)
        .map_err(|error| io::Error::new(error.kind(), format!("{MOUNTS}: {error}")))?;
    Ok(options(path, &mounts).map(str::to_owned))
}

/// The same, from the text of the kernel's list. Of several mounts at a path the last covers the
/// others.
fn options<'a>(path: &str, mounts: &'a str) -> Option<&'a str> {
    let path = path.replace('\\', "\\134").replace(' ', "\\040").replace('\t', "\\011");
    let mut fields = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    fields.rfind(|fields| fields.len() > 5 && fields[4] == path).map(|fields| fields[5])
}

#[cfg(test)]
mod tests {
    use super::{MountFlags, flag, flags, options};

    const MOUNTS: &str = "21 1 259:0 / / rw,relatime shared:1 - ext4 /dev/pmem0 rw\n\
        25 21 0:22 / /tmp rw,nosuid,nodev - tmpfs tmpfs rw\n\
        26 25 0:22 / /tmp rw,nosuid,nodev,noexec,relatime - tmpfs tmpfs rw\n\
        27 21 0:23 / /a\\040b ro - tmpfs tmpfs rw\n";

    #[test]
    fn of_several_mounts_at_a_place_the_last_counts() {
        assert_eq!(options("/tmp", MOUNTS), Some("rw,nosuid,nodev,noexec,relatime"));
        assert_eq!(options("/a b", MOUNTS), Some("ro"));
        assert_eq!(options("/nowhere", MOUNTS), None);
    }

    #[test]
    fn only_options_of_a_mount_are_known() {
        assert!(flag("noexec").is_some() && flag("nosymfollow").is_some());
        assert!(flag("rw").is_none() && flag("size=1m").is_none());
        assert_eq!(flags("rw,nosuid,relatime"), MountFlags::NOSUID | MountFlags::RELATIME);
    }
}
