//! Calls that hardening restricts: on other processes, on the kernel's own interfaces, on identity.
//!
//! Some are refused to an ordinary user, or by the setting whose cost is measured. Such a refusal
//! is part of the measured operation. Any other failure is an error.

use core::ffi::CStr;

use rustix::fs::{Mode, mkdir, symlink};

use crate::call::{Call, CallSetup};
use crate::calls::address_space::PAGE;
use crate::calls::partner_process::PartnerProcess;
use crate::raw_syscalls::{self, Fault, syscall, word};

/// A refusal for lack of permission is `None`.
#[inline]
fn or_refused(result: Result<usize, Fault>) -> Result<Option<usize>, Fault> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(Fault::Errno(libc::EPERM | libc::EACCES | libc::ENOSPC | libc::ENOSYS)) => Ok(None),
        Err(fault) => Err(fault),
    }
}

/// Closes a descriptor, unless opening it was refused.
#[inline]
fn close(file: Option<usize>) -> Result<(), Fault> {
    let Some(file) = file else { return Ok(()) };
    // SAFETY: the descriptor closed is one just opened.
    unsafe { syscall(libc::SYS_close, [file]) }.map(drop)
}

/// `ptrace`: `process_vm_readv` of one byte of a sleeping child. It needs the permission to attach,
/// as ptrace does, and leaves nothing to undo.
pub struct Ptrace {
    child: PartnerProcess,
    byte: u8,
}

impl Call for Ptrace {
    fn prepare(_: &CallSetup) -> Result<Self, Fault> {
        // SAFETY: touches no memory.
        let child = PartnerProcess::start(|| unsafe { syscall(libc::SYS_pause, []) }.map(drop))?;
        Ok(Self { child, byte: 0 })
    }

    #[inline]
    fn operate(&mut self) -> Result<(), Fault> {
        // The child has a copy of this stack at the same address.
        let here = libc::iovec { iov_base: (&raw mut self.byte).cast(), iov_len: 1 };
        let list = &raw const here as usize;
        // SAFETY: reads the list, and writes to the byte alone.
        let read = unsafe {
            syscall(libc::SYS_process_vm_readv, [word(self.child.id()), list, 1, list, 1, 0])
        };
        or_refused(read).map(drop)
    }
}

/// `module`: `init_module`, which an ordinary user may not call.
pub struct Module;

impl Call for Module {
    fn prepare(_: &CallSetup) -> Result<Self, Fault> {
        Ok(Self)
    }

    #[inline]
    fn operate(&mut self) -> Result<(), Fault> {
        // SAFETY: refused before it reads anything.
        or_refused(unsafe { syscall(libc::SYS_init_module, [0, 0, 0]) }).map(drop)
    }
}

/// `mount`: of nothing, which an ordinary user may not call.
pub struct Mount;

impl Call for Mount {
    fn prepare(_: &CallSetup) -> Result<Self, Fault> {
        Ok(Self)
    }

    #[inline]
    fn operate(&mut self) -> Result<(), Fault> {
        let (kind, place) = (c"tmpfs".as_ptr() as usize, c".".as_ptr() as usize);
        // SAFETY: reads the names.
        or_refused(unsafe { syscall(libc::SYS_mount, [kind, place, kind, 0, 0]) }).map(drop)
    }
}

/// `mmap-exec`: mmap of a page of anonymous memory, mprotect to executable, munmap.
pub struct MmapExec;

impl Call for MmapExec {
    fn prepare(_: &CallSetup) -> Result<Self, Fault> {
        Ok(Self)
    }

    #[inline]
    fn operate(&mut self) -> Result<(), Fault> {
        let protection = word(libc::PROT_READ | libc::PROT_WRITE);
        let flags = word(libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping, which nothing uses, changed and unmapped.
        unsafe {
            let start = syscall(libc::SYS_mmap, [0, PAGE, protection, flags, usize::MAX, 0])?;
            let executable = word(libc::PROT_READ | libc::PROT_EXEC);
            or_refused(syscall(libc::SYS_mprotect, [start, PAGE, executable]))?;
            syscall(libc::SYS_munmap, [start, PAGE]).map(drop)
        }
    }
}

/// `setuid`: of the user's own id.
pub struct Setuid {
    user: usize,
}

impl Call for Setuid {
    fn prepare(_: &CallSetup) -> Result<Self, Fault> {
        // SAFETY: touches no memory.
        Ok(Self { user: unsafe { syscall(libc::SYS_getuid, []) }? })
    }

    #[inline]
    fn operate(&mut self) -> Result<(), Fault> {
        // SAFETY: touches no memory.
        unsafe { syscall(libc::SYS_setuid, [self.user]) }.map(drop)
    }
}

/// `userns`: clone of a process in a user namespace of its own, which exits, and wait4.
pub struct Userns;

impl Call for Userns {
    fn prepare(_: &CallSetup) -> Result<Self, Fault> {
        Ok(Self)
    }

    #[inline]
    fn operate(&mut self) -> Result<(), Fault> {
        let flags = word(libc::SIGCHLD | libc::CLONE_NEWUSER);
        // SAFETY: without shared memory and without a stack of its own, the child continues on a
        // copy, and ends at once.
        match or_refused(unsafe { syscall(libc::SYS_clone, [flags]) })? {
            None => Ok(()),
            Some(0) => raw_syscalls::exit(0),
            Some(child) => {
                let pid = i32::try_from(child).map_err(|_| Fault::Wrong("not a process id"))?;
                raw_syscalls::wait(pid).map(drop)
            }
        }
    }
}

/// `bpf`: creation of a map of one entry, close.
pub struct Bpf {
    attributes: [u32; 16],
}

impl Call for Bpf {
    fn prepare(_: &CallSetup) -> Result<Self, Fault> {
        let mut attributes = [0; 16];
        attributes[..4].copy_from_slice(&[2, 4, 4, 1]); // an array: key, value, entries
        Ok(Self { attributes })
    }

    #[inline]
    fn operate(&mut self) -> Result<(), Fault> {
        let list = self.attributes.as_ptr() as usize;
        // SAFETY: reads the attributes.
        close(or_refused(unsafe { syscall(libc::SYS_bpf, [0, list, 64]) })?)
    }
}

/// `userfaultfd`: a descriptor for faults in the kernel, too; close.
pub struct Userfaultfd;

impl Call for Userfaultfd {
    fn prepare(_: &CallSetup) -> Result<Self, Fault> {
        Ok(Self)
    }

    #[inline]
    fn operate(&mut self) -> Result<(), Fault> {
        // SAFETY: touches no memory.
        close(or_refused(unsafe { syscall(libc::SYS_userfaultfd, [0]) })?)
    }
}

/// `syslog`: the length of the kernel's log.
pub struct Syslog;

impl Call for Syslog {
    fn prepare(_: &CallSetup) -> Result<Self, Fault> {
        Ok(Self)
    }

    #[inline]
    fn operate(&mut self) -> Result<(), Fault> {
        let read_all = 3;
        let mut byte = 0_u8;
        // SAFETY: writes to `byte` alone.
        let read = unsafe { syscall(libc::SYS_syslog, [read_all, &raw mut byte as usize, 1]) };
        or_refused(read).map(drop)
    }
}

/// `follow`: stat through a symbolic link in a folder of its own that all users may write to.
pub struct Follow;

const SHARED: &CStr = c"shared";
const LINK: &CStr = c"shared/link";

impl Call for Follow {
    fn prepare(_: &CallSetup) -> Result<Self, Fault> {
        mkdir(SHARED, Mode::from_raw_mode(0o700))?;
        rustix::fs::chmod(SHARED, Mode::from_raw_mode(0o1777))?;
        symlink(c"..", LINK)?;
        Ok(Self)
    }

    #[inline]
    fn operate(&mut self) -> Result<(), Fault> {
        let mut found = core::mem::MaybeUninit::<libc::stat>::uninit();
        let arguments = [LINK.as_ptr() as usize, found.as_mut_ptr() as usize];
        // SAFETY: reads the name, and writes a `stat` where there is room for one.
        unsafe { syscall(libc::SYS_stat, arguments) }.map(drop)
    }
}
