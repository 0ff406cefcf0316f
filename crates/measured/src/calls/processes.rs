//! Calls that create processes.

use alloc::ffi::CString;
use core::ffi::c_char;
use core::ptr;

use crate::call::{Call, CallSetup};
use crate::raw_syscalls::{self, Fault, syscall};

/// Waits for a child that should end with status 0.
#[inline]
fn reap(pid: i32) -> Result<(), Fault> {
    match raw_syscalls::wait(pid)? {
        0 => Ok(()),
        _ => Err(Fault::Wrong("the child process did not end with status 0")),
    }
}

/// `fork`: clone as fork does it, exit of the child, wait4.
pub struct Fork;

impl Call for Fork {
    fn prepare(_: &CallSetup) -> Result<Self, Fault> {
        Ok(Self)
    }

    #[inline]
    fn operate(&mut self) -> Result<(), Fault> {
        // SAFETY: the child ends at once.
        match unsafe { raw_syscalls::fork() }? {
            0 => raw_syscalls::exit(0),
            pid => reap(pid),
        }
    }
}

/// `exec`: the same, and the child executes a static program that ends at once: execve.
pub struct Exec {
    program: CString,
}

impl Call for Exec {
    fn prepare(setup: &CallSetup) -> Result<Self, Fault> {
        Ok(Self { program: setup.noop.clone() })
    }

    #[inline]
    fn operate(&mut self) -> Result<(), Fault> {
        // SAFETY: the child makes system calls and ends.
        match unsafe { raw_syscalls::fork() }? {
            0 => {
                let arguments = [c"noop".as_ptr(), ptr::null()];
                let environment = [ptr::null::<c_char>()];
                let program = self.program.as_ptr() as usize;
                let execve = [program, arguments.as_ptr() as usize, environment.as_ptr() as usize];
                // SAFETY: reads the program's name and the two lists, each ended by null.
                let _ = unsafe { syscall(libc::SYS_execve, execve) };
                raw_syscalls::exit(127)
            }
            pid => reap(pid),
        }
    }
}
