//! Calls on one existing file, most of them by its path in the working directory.

use core::ffi::CStr;
use core::mem::MaybeUninit;

use rustix::fd::{AsRawFd, OwnedFd};

use crate::call::{Call, CallSetup};
use crate::calls::fixtures;
use crate::raw_syscalls::{Fault, syscall, word};

/// The file's name.
const NAME: &CStr = c"file";

/// The working directory, for `*at` calls.
const HERE: usize = word(libc::AT_FDCWD);

/// Makes the file, with one byte in it.
fn create() -> Result<(), Fault> {
    fixtures::create_file(NAME)
}

fn name() -> usize {
    NAME.as_ptr() as usize
}

/// `stat`: newfstatat by path.
pub struct Stat;

impl Call for Stat {
    fn prepare(_: &CallSetup) -> Result<Self, Fault> {
        create().map(|()| Self)
    }

    #[inline]
    fn operate(&mut self) -> Result<(), Fault> {
        let mut stat = MaybeUninit::<libc::stat>::uninit();
        // SAFETY: writes to `stat` alone, which has the size that the kernel takes it for.
        unsafe { syscall(libc::SYS_newfstatat, [HERE, name(), stat.as_mut_ptr() as usize, 0]) }
            .map(drop)
    }
}

/// `fstat`: fstat of a descriptor.
pub struct Fstat {
    file: OwnedFd,
}

impl Call for Fstat {
    fn prepare(_: &CallSetup) -> Result<Self, Fault> {
        create()?;
        Ok(Self { file: fixtures::open_to_read(NAME)? })
    }

    #[inline]
    fn operate(&mut self) -> Result<(), Fault> {
        let mut stat = MaybeUninit::<libc::stat>::uninit();
        let arguments = [word(self.file.as_raw_fd()), stat.as_mut_ptr() as usize];
        // SAFETY: writes to `stat` alone, which has the size that the kernel takes it for.
        unsafe { syscall(libc::SYS_fstat, arguments) }.map(drop)
    }
}

/// `open`: openat for reading, and close.
pub struct Open;

impl Call for Open {
    fn prepare(_: &CallSetup) -> Result<Self, Fault> {
        create().map(|()| Self)
    }

    #[inline]
    fn operate(&mut self) -> Result<(), Fault> {
        // SAFETY: reads the name; the descriptor closed is the one just opened.
        unsafe {
            let file = syscall(libc::SYS_openat, [HERE, name(), word(libc::O_RDONLY)])?;
            syscall(libc::SYS_close, [file]).map(drop)
        }
    }
}

/// `access`: access by path, for reading.
pub struct Access;

impl Call for Access {
    fn prepare(_: &CallSetup) -> Result<Self, Fault> {
        create().map(|()| Self)
    }

    #[inline]
    fn operate(&mut self) -> Result<(), Fault> {
        // SAFETY: reads the name alone.
        unsafe { syscall(libc::SYS_access, [name(), word(libc::R_OK)]) }.map(drop)
    }
}

/// `lseek`: lseek to the file's start.
pub struct Lseek {
    file: OwnedFd,
}

impl Call for Lseek {
    fn prepare(_: &CallSetup) -> Result<Self, Fault> {
        create()?;
        Ok(Self { file: fixtures::open_to_read(NAME)? })
    }

    #[inline]
    fn operate(&mut self) -> Result<(), Fault> {
        let arguments = [word(self.file.as_raw_fd()), 0, word(libc::SEEK_SET)];
        // SAFETY: touches no memory.
        unsafe { syscall(libc::SYS_lseek, arguments) }.map(drop)
    }
}

/// `chmod`: chmod by path, to the mode that the file has.
pub struct Chmod;

impl Call for Chmod {
    fn prepare(_: &CallSetup) -> Result<Self, Fault> {
        create().map(|()| Self)
    }

    #[inline]
    fn operate(&mut self) -> Result<(), Fault> {
        // SAFETY: reads the name alone.
        unsafe { syscall(libc::SYS_chmod, [name(), 0o644]) }.map(drop)
    }
}

/// `chown`: chown by path, to the owner and group that the file has.
pub struct Chown {
    user: usize,
    group: usize,
}

impl Call for Chown {
    fn prepare(_: &CallSetup) -> Result<Self, Fault> {
        create()?;
        let user = rustix::process::getuid().as_raw() as usize;
        Ok(Self { user, group: rustix::process::getgid().as_raw() as usize })
    }

    #[inline]
    fn operate(&mut self) -> Result<(), Fault> {
        // SAFETY: reads the name alone.
        unsafe { syscall(libc::SYS_chown, [name(), self.user, self.group]) }.map(drop)
    }
}

/// `utimensat`: utimensat by path, to two times given.
pub struct Utimensat {
    times: [libc::timespec; 2],
}

impl Call for Utimensat {
    fn prepare(_: &CallSetup) -> Result<Self, Fault> {
        create()?;
        Ok(Self { times: [libc::timespec { tv_sec: 1_000_000_000, tv_nsec: 0 }; 2] })
    }

    #[inline]
    fn operate(&mut self) -> Result<(), Fault> {
        let arguments = [HERE, name(), self.times.as_ptr() as usize, 0];
        // SAFETY: reads the name and the two times.
        unsafe { syscall(libc::SYS_utimensat, arguments) }.map(drop)
    }
}

/// `setxattr`: setxattr by path of `system.posix_acl_access`, to what the file's mode says.
///
/// An ordinary user may set no `user.` attribute on a tmpfs of Linux 6.1; this one he may.
pub struct Setxattr;

/// `struct posix_acl_xattr_header` and three entries: version 2, then tag, permissions and id
/// (undefined: all ones) of owner, group and others; little-endian. Means mode 0644.
const ACL: [u8; 28] = [
    2, 0, 0, 0, //
    0x01, 0, 6, 0, 255, 255, 255, 255, //
    0x04, 0, 4, 0, 255, 255, 255, 255, //
    0x20, 0, 4, 0, 255, 255, 255, 255,
];

impl Call for Setxattr {
    fn prepare(_: &CallSetup) -> Result<Self, Fault> {
        create().map(|()| Self)
    }

    #[inline]
    fn operate(&mut self) -> Result<(), Fault> {
        let attribute = c"system.posix_acl_access".as_ptr() as usize;
        let arguments = [name(), attribute, ACL.as_ptr() as usize, ACL.len(), 0];
        // SAFETY: reads the two names and the list.
        unsafe { syscall(libc::SYS_setxattr, arguments) }.map(drop)
    }
}
