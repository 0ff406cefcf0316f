//! Why something was not done.

use std::fmt::{self, Display};
use std::io;
use std::path::Path;

/// Why something was not done.
#[derive(Debug)]
pub enum Failure {
    /// The machine may not be changed at present. Nothing was changed.
    Unfit(String),
    /// The request is refused. Nothing was changed.
    Refused(String),
    /// It was tried, and failed.
    Failed(String),
}

/// The result of something that may fail.
pub type Result<T> = std::result::Result<T, Failure>;

impl Display for Failure {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unfit(why) | Self::Refused(why) | Self::Failed(why) => to.write_str(why),
        }
    }
}

/// Makes a failure of a system's error at a path.
pub fn at(path: &Path) -> impl Fn(io::Error) -> Failure {
    move |error| Failure::Failed(format!("{}: {error}", path.display()))
}
