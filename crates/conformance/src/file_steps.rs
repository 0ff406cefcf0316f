//! The steps that bring files into the state that a call needs.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, chown, symlink};
use std::path::Path;

use anyhow::{Context, Result};
use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use serde::{Deserialize, Serialize};

/// One step on a file. An existing file that is in the way is removed first.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(tag = "step", rename_all = "lowercase", deny_unknown_fields)]
pub enum Step {
    /// Mount an empty file system in memory.
    Mount {
        /// Where; the directory is made.
        path: String,
    },
    /// Make a directory.
    Directory {
        /// Where.
        path: String,
        /// Permission bits.
        mode: u32,
        /// User and group.
        owner: [u32; 2],
    },
    /// Make a file with a few bytes in it.
    File {
        /// Where.
        path: String,
        /// Permission bits.
        mode: u32,
        /// User and group.
        owner: [u32; 2],
    },
    /// Copy a program.
    Copy {
        /// Where to.
        path: String,
        /// Of what.
        from: String,
        /// Permission bits.
        mode: u32,
    },
    /// Make a character device.
    Device {
        /// Where.
        path: String,
        /// Permission bits.
        mode: u32,
        /// Major and minor number.
        number: [u32; 2],
    },
    /// Make a named pipe.
    Fifo {
        /// Where.
        path: String,
        /// Permission bits.
        mode: u32,
    },
    /// Make another name for a file.
    Link {
        /// The new name.
        path: String,
        /// The old one.
        to: String,
    },
    /// Make a symbolic link.
    Symlink {
        /// Where.
        path: String,
        /// What it says.
        to: String,
    },
    /// Remove a file or an empty directory, if it is there.
    Remove {
        /// Which.
        path: String,
    },
    /// Unmount a file system, if one is mounted there.
    Unmount {
        /// The mount point.
        path: String,
    },
}

/// Does the steps in order.
pub fn carry_out(steps: &[Step]) -> Result<()> {
    steps.iter().try_for_each(|step| step.carry_out().with_context(|| format!("{step:?}")))
}

impl Step {
    fn carry_out(&self) -> io::Result<()> {
        match self {
            Self::Mount { path } => {
                fs::create_dir_all(path)?;
                Ok(mount("tmpfs", path, "tmpfs", MountFlags::empty(), c"mode=0755")?)
            }
            Self::Directory { path, mode, owner } => {
                remove(path)?;
                DirBuilder::new().mode(0o700).create(path)?;
                settle(path, *mode, *owner)
            }
            Self::File { path, mode, owner } => {
                remove(path)?;
                fs::write(path, b"content\n")?;
                settle(path, *mode, *owner)
            }
            Self::Copy { path, from, mode } => {
                remove(path)?;
                io::copy(&mut File::open(from)?, &mut File::create(path)?)?;
                settle(path, *mode, [0, 0])
            }
            Self::Device { path, mode, number: [major, minor] } => {
                remove(path)?;
                let number = makedev(*major, *minor);
                mknodat(CWD, path, FileType::CharacterDevice, Mode::empty(), number)?;
                settle(path, *mode, [0, 0])
            }
            Self::Fifo { path, mode } => {
                remove(path)?;
                mknodat(CWD, path, FileType::Fifo, Mode::empty(), 0)?;
                settle(path, *mode, [0, 0])
            }
            Self::Link { path, to } => {
                remove(path)?;
                fs::hard_link(to, path)
            }
            Self::Symlink { path, to } => {
                remove(path)?;
                symlink(to, path)
            }
            Self::Remove { path } => remove(path),
            Self::Unmount { path } => {
                let _ = unmount(path.as_str(), UnmountFlags::DETACH);
                Ok(())
            }
        }
    }
}

/// Sets owner and permissions; in this order, since a change of owner takes bits away.
fn settle(path: &str, mode: u32, [user, group]: [u32; 2]) -> io::Result<()> {
    chown(path, Some(user), Some(group))?;
    fs::set_permissions(path, Permissions::from_mode(mode))
}

/// Removes a file or an empty directory, if it is there.
fn remove(path: &str) -> io::Result<()> {
    let path = Path::new(path);
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(found) if found.is_dir() => fs::remove_dir(path),
        Ok(_) => fs::remove_file(path),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    use super::{Step, carry_out};

    #[test]
    fn a_step_leaves_the_same_state_each_time() {
        let folder = tempfile::tempdir().expect("made");
        let root = folder.path();
        let path = |name: &str| root.join(name).to_string_lossy().into_owned();
        let own = fs::metadata(root).expect("there");
        let owner = [own.uid(), own.gid()];
        let steps = [
            Step::File { path: path("f"), mode: 0o640, owner },
            Step::Directory { path: path("d"), mode: 0o711, owner },
            Step::Link { path: path("d/l"), to: path("f") },
            Step::Symlink { path: path("s"), to: path("nowhere") },
            Step::Remove { path: path("d/l") },
            Step::Remove { path: path("d/l") },
        ];
        for _ in 0..2 {
            carry_out(&steps).expect("done");
            let mode = |name| fs::metadata(path(name)).expect("there").permissions().mode() & 0o777;
            assert_eq!((mode("f"), mode("d")), (0o640, 0o711));
            assert_eq!(fs::metadata(path("f")).expect("there").nlink(), 1);
            assert_eq!(fs::read_link(path("s")).expect("a link"), root.join("nowhere"));
        }
    }
}
