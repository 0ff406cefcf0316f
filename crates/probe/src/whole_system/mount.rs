//! The request to mount a directory with options.

use hardcost_linux::mount_options::{flag, flags, of_mount};
use rustix::mount::{MountFlags, mount_bind, mount_remount};

use crate::error::{Context, Error, Result};
use crate::protocol::Answer;

/// Mounts a directory on itself, with options in addition to its present ones.
pub fn mount(path: String, options: &[String]) -> Result<Answer> {
    let mut wanted = MountFlags::BIND;
    for option in options {
        wanted |= flag(option)
            .ok_or_else(|| Error::Other(format!("mount of {path}: no option {option:?}")))?;
    }
    mount_bind(&path, &path).context(|| format!("mounting {path}"))?;
    // Changing options drops those that are not named.
    wanted |= flags(&current_options(&path)?);
    mount_remount(&path, wanted, "").context(|| format!("mounting {path}"))?;
    let options = current_options(&path)?.split(',').map(str::to_owned).collect();
    Ok(Answer::Mounted { options, path })
}

/// The options that the kernel shows for a mount.
fn current_options(path: &str) -> Result<String> {
    let found = of_mount(path).map_err(|why| Error::Other(why.to_string()))?;
    found.ok_or_else(|| Error::Other(format!("nothing is mounted at {path}")))
}
