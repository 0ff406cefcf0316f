//! Executing a program, found in `PATH` as the C library's `execvpe` finds it.

use alloc::collections::BTreeMap;
use alloc::ffi::CString;
use alloc::string::String;
use alloc::vec::Vec;
use core::ffi::{CStr, c_char};
use core::ptr;

use crate::raw_syscalls::{Fault, syscall};

/// The search path without a `PATH`.
const USUAL: &str = "/bin:/usr/bin";
/// Runs a file that the kernel does not execute itself.
const SHELL: &CStr = c"/bin/sh";

/// A program, its arguments and its environment, as the kernel takes them.
pub struct ExecArguments {
    /// The paths to try, in order.
    places: Vec<CString>,
    arguments: Vec<CString>,
    environment: Vec<CString>,
}

impl ExecArguments {
    /// The arguments for the program `argv[0]`.
    pub fn new(argv: &[String], environment: &BTreeMap<String, String>) -> Result<Self, Fault> {
        let name = argv.first().ok_or(Fault::Wrong("a command without a name"))?;
        let path = environment.get("PATH").map_or(USUAL, String::as_str);
        let places = places(name, path).into_iter().map(c_string).collect::<Result<_, _>>()?;
        let arguments = argv.iter().cloned().map(c_string).collect::<Result<_, _>>()?;
        let variables = environment.iter().map(|(key, value)| c_string([key, "=", value].concat()));
        Ok(Self { places, arguments, environment: variables.collect::<Result<_, _>>()? })
    }

    /// Executes the program; returns only if that fails.
    pub fn execute(&self) -> Fault {
        let mut fault = Fault::Errno(libc::ENOENT);
        for place in &self.places {
            let mut refused = self.at(place, &[]);
            if refused == Fault::Errno(libc::ENOEXEC) {
                refused = self.at(SHELL, &[SHELL, place]);
            }
            match refused {
                Fault::Errno(libc::EACCES) => fault = refused,
                Fault::Errno(
                    libc::ENOENT | libc::ENOTDIR | libc::ESTALE | libc::ENODEV | libc::ETIMEDOUT,
                ) => {}
                Fault::Errno(_) | Fault::Wrong(_) => return refused,
            }
        }
        fault
    }

    /// Executes that file. If `first` is not empty, it replaces the name.
    fn at(&self, path: &CStr, first: &[&CStr]) -> Fault {
        let own = self.arguments.iter().skip(usize::from(!first.is_empty()));
        let arguments = list(first.iter().copied().chain(own.map(CString::as_c_str)));
        let environment = list(self.environment.iter().map(CString::as_c_str));
        let execve =
            [path.as_ptr() as usize, arguments.as_ptr() as usize, environment.as_ptr() as usize];
        // SAFETY: reads the path and the two lists, each ended by null.
        match unsafe { syscall(libc::SYS_execve, execve) } {
            Err(fault) => fault,
            Ok(_) => Fault::Wrong("a program was executed and came back"),
        }
    }
}

/// The paths to try for a program's name.
fn places(name: &str, path: &str) -> Vec<String> {
    if name.contains('/') {
        return Vec::from([name.into()]);
    }
    if name.is_empty() {
        return Vec::new();
    }
    let in_folder = |folder| match folder {
        "" => name.into(),
        folder => [folder, "/", name].concat(),
    };
    path.split(':').map(in_folder).collect()
}

fn list<'a>(words: impl Iterator<Item = &'a CStr>) -> Vec<*const c_char> {
    words.map(CStr::as_ptr).chain([ptr::null()]).collect()
}

/// A word as the kernel takes it.
pub fn c_string(word: String) -> Result<CString, Fault> {
    CString::new(word).map_err(|_| Fault::Wrong("a word with a zero byte in it"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{ExecArguments, places};
    use crate::raw_syscalls::Fault;

    #[test]
    fn a_program_is_searched_for_unless_it_has_a_path() {
        assert_eq!(places("a", "/x::/y"), ["/x/a", "a", "/y/a"]);
        assert_eq!(places("./a", "/x"), ["./a"]);
        assert!(places("", "/x").is_empty());
    }

    fn refused(name: &str, path: &str) -> Fault {
        let environment = BTreeMap::from([("PATH".to_owned(), path.to_owned())]);
        ExecArguments::new(&[name.to_owned()], &environment).expect("words").execute()
    }

    #[test]
    fn what_cannot_be_executed_is_said_as_the_c_library_says_it() {
        assert_eq!(refused("no-such-program", "/bin:/nowhere"), Fault::Errno(libc::ENOENT));
        assert_eq!(refused("version", "/proc:/nowhere"), Fault::Errno(libc::EACCES));
        assert_eq!(refused("/proc", ""), Fault::Errno(libc::EACCES));
        assert!(ExecArguments::new(&["a\0b".to_owned()], &BTreeMap::new()).is_err());
        assert!(ExecArguments::new(&[], &BTreeMap::new()).is_err());
    }
}
