//! Processes and pipes for the tests.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;

use crate::fault::{Context, Fault, Result};

/// A pipe: its reading and writing ends, both inherited by an executed program.
pub fn pipe() -> Result<(File, File)> {
    let mut ends: [RawFd; 2] = [0; 2];
    // SAFETY: writes two numbers.
    let result = unsafe { libc::pipe(ends.as_mut_ptr()) };
    succeeded(result).context(|| "making a pipe".into())?;
    // SAFETY: both were just opened and have no other owner.
    let [reader, writer] = ends.map(|end| unsafe { OwnedFd::from_raw_fd(end) });
    Ok((reader.into(), writer.into()))
}

/// A child of this process.
#[derive(Debug)]
pub struct Child(libc::pid_t);

/// Starts a process that does `work` and exits with the status that it returns.
///
/// This process has a single thread, so the child may do anything.
pub fn fork(work: impl FnOnce() -> u8) -> Result<Child> {
    // SAFETY: there is no other thread that could hold a lock.
    match unsafe { libc::fork() } {
        0 => {
            let status = work();
            // SAFETY: ends the process, without running the parent's exit handlers.
            unsafe { libc::_exit(status.into()) }
        }
        -1 => Err(io::Error::last_os_error()).context(|| "starting a process".into()),
        pid => Ok(Child(pid)),
    }
}

impl Child {
    /// Waits until the process has ended; any end but status 0 is a fault.
    pub fn wait(self) -> Result<()> {
        let mut status = 0;
        // SAFETY: writes the status alone.
        while unsafe { libc::waitpid(self.0, &raw mut status, 0) } == -1 {
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error).context(|| "waiting for a process".into());
            }
        }
        match status {
            0 => Ok(()),
            _ if libc::WIFSIGNALED(status) => {
                Err(Fault(format!("a process was killed by signal {}", libc::WTERMSIG(status))))
            }
            _ => Err(Fault(format!("a process ended with status {}", libc::WEXITSTATUS(status)))),
        }
    }
}

/// Executes the program `path` in this process, with exactly these arguments and environment;
/// returns only if that fails.
pub fn execute(path: &str, argv: &[String], environment: &[&str]) -> Fault {
    let strings = |words: &mut dyn Iterator<Item = &str>| -> Option<Vec<CString>> {
        words.map(|word| CString::new(word).ok()).collect()
    };
    let prepared = (
        CString::new(path).ok(),
        strings(&mut argv.iter().map(String::as_str)),
        strings(&mut environment.iter().copied()),
    );
    let (Some(program), Some(argv), Some(environment)) = prepared else {
        return Fault(format!("executing {path}: an argument holds a zero"));
    };
    let pointers = |strings: &[CString]| -> Vec<*const libc::c_char> {
        strings.iter().map(|string| string.as_ptr()).chain([ptr::null()]).collect()
    };
    // SAFETY: both lists end with a null pointer and outlive the call.
    unsafe {
        libc::execve(program.as_ptr(), pointers(&argv).as_ptr(), pointers(&environment).as_ptr())
    };
    Fault(format!("executing {path}: {}", io::Error::last_os_error()))
}

/// A file's number, for closing in a child or passing to another program.
pub fn raw(file: &File) -> RawFd {
    file.as_raw_fd()
}

/// Closes files that a child inherited and that belong to its parent's values.
pub fn close<const N: usize>(files: [RawFd; N]) {
    for file in files {
        // SAFETY: the child ends by `_exit` and never uses or drops the file again.
        unsafe { libc::close(file) };
    }
}

/// The C library's -1 as an error.
fn succeeded(result: libc::c_int) -> io::Result<()> {
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::{fork, pipe};

    #[test]
    fn a_child_that_fails_is_told_from_one_that_does_not() {
        assert_eq!(fork(|| 0).unwrap().wait(), Ok(()));
        assert!(fork(|| 3).unwrap().wait().unwrap_err().0.contains("status 3"));
    }

    #[test]
    fn what_goes_into_a_pipe_comes_out() {
        let (mut reader, mut writer) = pipe().unwrap();
        writer.write_all(b"abc").unwrap();
        drop(writer);
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "abc");
    }
}
