//! Mount options, changed by remounting.

use hardcost_linux::mount_options::{self, flag, flags};
use rustix::mount::{MountFlags, mount_remount};

use crate::failure::{Failure, Result};

/// The options of a mount, as the kernel shows them, separated by commas.
pub fn shown(path: &str) -> Result<String> {
    let found =
        mount_options::of_mount(path).map_err(|error| Failure::Failed(error.to_string()))?;
    found.ok_or_else(|| {
        Failure::Refused(format!(
            "{path} is not mounted on its own, and only what is can have other options"
        ))
    })
}

/// Adds options to a mount's.
pub fn add(path: &str, options: &[String]) -> Result<()> {
    let mut all = flags(&shown(path)?);
    for option in options {
        let refused = || Failure::Refused(format!("mount of {path}: no option {option:?}"));
        all |= flag(option).ok_or_else(refused)?;
    }
    remount(path, all)
}

/// Sets a mount's options to what the kernel has shown.
pub fn put(path: &str, shown: &[u8]) -> Result<()> {
    remount(path, flags(&String::from_utf8_lossy(shown)))
}

fn remount(path: &str, flags: MountFlags) -> Result<()> {
    mount_remount(path, flags | MountFlags::BIND, "")
        .map_err(|error| Failure::Failed(format!("mount of {path}: {error}")))
}
