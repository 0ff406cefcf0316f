//! The request for mount options.

use hardcost_linux::mounts::{flag, flags, shown};
use rustix::mount::{MountFlags, mount_bind, mount_remount};

use crate::error::{Context, Error, Result};
use crate::protocol::Answer;

/// Mounts a directory on itself, with options on top of those that hold there already.
pub fn mount(path: String, options: &[String]) -> Result<Answer> {
    let mut wanted = MountFlags::BIND;
    for option in options {
        wanted |= flag(option)
            .ok_or_else(|| Error::Other(format!("mount of {path}: no option {option:?}")))?;
    }
    mount_bind(&path, &path).context(|| format!("mounting {path}"))?;
    // What is not named when options are changed is taken away.
    wanted |= flags(&held(&path)?);
    mount_remount(&path, wanted, "").context(|| format!("mounting {path}"))?;
    let options = held(&path)?.split(',').map(str::to_owned).collect();
    Ok(Answer::Mounted { options, path })
}

/// The options that the kernel shows for what is mounted at a path.
fn held(path: &str) -> Result<String> {
    let found = shown(path).map_err(|why| Error::Other(why.to_string()))?;
    found.ok_or_else(|| Error::Other(format!("nothing is mounted at {path}")))
}
