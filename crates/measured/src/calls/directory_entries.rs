//! Calls that create, rename and remove directory entries.

use core::ffi::CStr;
use core::mem;

use crate::call::{Call, CallSetup};
use crate::calls::fixtures;
use crate::raw_syscalls::{Fault, syscall};

/// The entry before an operation, if there is one.
const OLD: &CStr = c"old";
/// The entry that the operation creates.
const NEW: &CStr = c"new";

/// Makes a system call whose arguments are one name and a number.
fn on(number: libc::c_long, name: &CStr, argument: usize) -> Result<usize, Fault> {
    // SAFETY: used with calls that read the name and touch no other memory.
    unsafe { syscall(number, [name.as_ptr() as usize, argument]) }
}

/// Makes a system call whose arguments are two names.
fn from_to(number: libc::c_long, from: &CStr, to: &CStr) -> Result<(), Fault> {
    // SAFETY: used with calls that read the names and touch no other memory.
    unsafe { syscall(number, [from.as_ptr() as usize, to.as_ptr() as usize]) }.map(drop)
}

/// `creat`: creat of a new file, close, unlink.
pub struct Creat;

impl Call for Creat {
    fn prepare(_: &CallSetup) -> Result<Self, Fault> {
        Ok(Self)
    }

    fn before(&mut self) -> Result<(), Fault> {
        fixtures::prepare_next_number()
    }

    #[inline]
    fn operate(&mut self) -> Result<(), Fault> {
        let file = on(libc::SYS_creat, NEW, 0o644)?;
        // SAFETY: the descriptor closed is the one just opened.
        unsafe { syscall(libc::SYS_close, [file]) }?;
        on(libc::SYS_unlink, NEW, 0).map(drop)
    }
}

/// `rename`: one rename, of a file from a first name to a second or from the second to the first.
pub struct Rename {
    from: &'static CStr,
    to: &'static CStr,
}

impl Call for Rename {
    fn prepare(_: &CallSetup) -> Result<Self, Fault> {
        fixtures::create_file(OLD)?;
        Ok(Self { from: OLD, to: NEW })
    }

    #[inline]
    fn operate(&mut self) -> Result<(), Fault> {
        from_to(libc::SYS_rename, self.from, self.to)?;
        mem::swap(&mut self.from, &mut self.to);
        Ok(())
    }
}

/// `link`: link of a file to a second name, unlink of that.
pub struct Link;

impl Call for Link {
    fn prepare(_: &CallSetup) -> Result<Self, Fault> {
        fixtures::create_file(OLD)?;
        Ok(Self)
    }

    #[inline]
    fn operate(&mut self) -> Result<(), Fault> {
        from_to(libc::SYS_link, OLD, NEW)?;
        on(libc::SYS_unlink, NEW, 0).map(drop)
    }
}

/// `mkdir`: mkdir, rmdir.
pub struct Mkdir;

impl Call for Mkdir {
    fn prepare(_: &CallSetup) -> Result<Self, Fault> {
        Ok(Self)
    }

    fn before(&mut self) -> Result<(), Fault> {
        fixtures::prepare_next_number()
    }

    #[inline]
    fn operate(&mut self) -> Result<(), Fault> {
        on(libc::SYS_mkdir, NEW, 0o755)?;
        on(libc::SYS_rmdir, NEW, 0).map(drop)
    }
}
