//! Why something was not done.

use std::fmt::{self, Display};
use std::io;
use std::path::Path;

/// Why something was not done.
#[derive(Debug)]
pub enum Failure {
    /// The machine is not to be changed at all just now; nothing was.
    Unfit(String),
    /// It is not to be done; nothing was changed.
    Refused(String),
    /// It was tried, and failed.
    Failed(String),
}

/// What becomes of what is tried.
pub type Result<T> = std::result::Result<T, Failure>;

impl Display for Failure {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unfit(why) | Self::Refused(why) | Self::Failed(why) => to.write_str(why),
        }
    }
}

/// Makes a failure of the system's error at a path.
pub fn at(path: &Path) -> impl Fn(io::Error) -> Failure {
    move |error| Failure::Failed(format!("{}: {error}", path.display()))
}
