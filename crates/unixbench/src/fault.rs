//! Why a test has no result.

use std::fmt;
use std::io;

/// A failed test, in words.
#[derive(Debug, PartialEq, Eq)]
pub struct Fault(pub String);

/// The result of something that may fail.
pub type Result<T> = std::result::Result<T, Fault>;

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// Adds the attempted action to a system error.
pub trait Context<T> {
    /// Adds the attempted action; evaluated only after a failure.
    fn context(self, what: impl FnOnce() -> String) -> Result<T>;
}

impl<T> Context<T> for io::Result<T> {
    fn context(self, what: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|source| Fault(format!("{}: {source}", what())))
    }
}

/// A fault about a wrong result, unless it is `right`.
pub fn check(right: bool, wrong: impl FnOnce() -> String) -> Result<()> {
    if right { Ok(()) } else { Err(Fault(format!("wrong result: {}", wrong()))) }
}
