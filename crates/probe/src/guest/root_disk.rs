//! A Debian guest's root on a disk: loaded, mounted read-only and entered as an initramfs does it.
//!
//! Nothing may write to the disk before the machine has stopped for its snapshot, since all guests
//! that resume from the snapshot share its file. [`open_for_writing`] is called after the stop.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::mount::{MountFlags, mount, mount_move, mount_remount};
use rustix::process::{chdir, chroot};
use rustix::system::{finit_module, sethostname};

use crate::error::{Context, Error, Result};
use crate::guest::boot_parameters::{BootParameters, Disk, Init};
use crate::guest::{entropy, selinux};
use crate::processes::measured_program;

/// The kernel's modules in the initramfs, and the file that lists them in the order of loading.
const MODULES: &str = "/modules";
const ORDER: &str = "/modules/order";
/// Where the root is mounted before it becomes `/`.
const NEW: &str = "/new";
/// Linux's source, if the guest has it.
const TREE: &str = "/srv/tree";
/// The probe's own files in a guest with its root on a disk. In memory, so they end with the guest.
const OWN: &str = "/run/hardcost";
/// The program that ends at once: in the initramfs, a link to it, and in a guest with its root on a
/// disk.
const NOOP: &str = "/hardcost-noop";
const LINK: &str = "/bin/noop";
const OWN_NOOP: &str = "/run/hardcost/noop";
/// The name of every guest.
const HOST_NAME: &[u8] = b"hardcost";
/// Mounts that are moved to the new root.
const MOVED: [&str; 5] = ["/dev", "/proc", "/sys", "/run", "/tmp"];
/// A disk appears while its driver is loaded, or soon after.
const TRIES: u32 = 200;
const BETWEEN_TRIES: Duration = Duration::from_millis(10);

/// Loads the modules that the disk needs, and makes the disk the root.
pub fn enter(boot_parameters: &BootParameters) -> Result<()> {
    load_modules()?;
    let Some(root) = &boot_parameters.root else { return Ok(()) };
    fs::create_dir_all(NEW).context(|| NEW.into())?;
    mount_disk(root, Path::new(NEW))?;
    check()?;
    if let Some(tree) = &boot_parameters.tree {
        let place = format!("{NEW}{TREE}");
        mount_disk(tree, Path::new(&place))?;
    }
    // The new root hides the files of the initramfs.
    measured_program::path()?;
    let noop = fs::read(NOOP).context(|| NOOP.into())?;
    switch().context(|| "making the disk the root".into())?;
    furnish(&noop)?;
    entropy::pretend()?;
    // systemd loads the policy by itself.
    if boot_parameters.init == Init::Systemd { Ok(()) } else { selinux::begin() }
}

/// Remounts the root for writing.
pub fn open_for_writing() -> Result<()> {
    mount_remount("/", MountFlags::NOATIME, c"").context(|| "opening the root for writing".into())
}

/// Loads the modules in their listed order.
fn load_modules() -> Result<()> {
    let Ok(order) = fs::read_to_string(ORDER) else { return Ok(()) };
    for name in order.lines() {
        let load = || {
            Ok::<_, io::Error>(finit_module(
                File::open(format!("{MODULES}/{name}"))?.as_fd(),
                c"",
                0,
            )?)
        };
        load().context(|| format!("loading the kernel's module {name}"))?;
    }
    Ok(())
}

/// Mounts a disk read-only, once it appears.
#[expect(clippy::disallowed_methods, reason = "there is no job yet")]
fn mount_disk(Disk { device, file_system }: &Disk, place: &Path) -> Result<()> {
    for _ in 0..TRIES {
        if Path::new(device).exists() {
            break;
        }
        thread::sleep(BETWEEN_TRIES);
    }
    let flags = MountFlags::RDONLY | MountFlags::NOATIME;
    mount(device.as_str(), place, file_system.as_str(), flags, c"")
        .context(|| format!("mounting {device} ({file_system}) on {}", place.display()))
}

/// Checks that the disk holds a Linux system.
fn check() -> Result<()> {
    for (path, what) in [("bin/sh", "no shell"), ("etc/passwd", "no accounts")] {
        // A link may have an absolute target, which is valid only in the new root.
        if fs::symlink_metadata(format!("{NEW}/{path}")).is_err() {
            let message = format!("the image is not the root of a Linux system: {what} (/{path})");
            return Err(Error::Other(message));
        }
    }
    Ok(())
}

/// Moves the mounts to the new root, and enters it for good.
fn switch() -> io::Result<()> {
    for path in MOVED {
        let place = format!("{NEW}{path}");
        if !Path::new(&place).is_dir() {
            return Err(io::Error::other(format!("the image has no folder {path}")));
        }
        mount_move(path, &place)?;
    }
    chdir(NEW)?;
    mount_move(".", "/")?;
    chroot(".")?;
    chdir("/")?;
    Ok(())
}

/// Mounts what services expect besides, and creates the probe's own folder with the program that
/// ends at once.
fn furnish(noop: &[u8]) -> Result<()> {
    sethostname(HOST_NAME).context(|| "naming the host".into())?;
    for (kind, target, options) in [
        ("devpts", "/dev/pts", c"gid=5,mode=620,ptmxmode=666"),
        ("tmpfs", "/dev/shm", c"mode=1777"),
        ("cgroup2", "/sys/fs/cgroup", c""),
        ("selinuxfs", "/sys/fs/selinux", c""),
    ] {
        let made = target.starts_with("/sys") || fs::create_dir_all(target).is_ok();
        // The last two exist only if the kernel has them.
        if made && Path::new(target).is_dir() {
            mount(kind, target, kind, MountFlags::empty(), options)
                .context(|| format!("mounting {target}"))?;
        }
    }
    let own = || -> io::Result<()> {
        for (link, target) in [
            ("/dev/fd", "/proc/self/fd"),
            ("/dev/stdin", "/proc/self/fd/0"),
            ("/dev/stdout", "/proc/self/fd/1"),
            ("/dev/stderr", "/proc/self/fd/2"),
        ] {
            symlink(target, link)?;
        }
        fs::create_dir_all("/run/lock")?;
        fs::set_permissions("/run/lock", fs::Permissions::from_mode(0o1777))?;
        fs::create_dir_all(OWN)?;
        fs::write(OWN_NOOP, noop)?;
        fs::set_permissions(OWN_NOOP, fs::Permissions::from_mode(0o755))
    };
    own().context(|| "furnishing /dev and /run".into())
}

/// The path of the program that ends at once, in this guest.
pub fn noop() -> &'static str {
    if Path::new(OWN_NOOP).exists() { OWN_NOOP } else { LINK }
}
