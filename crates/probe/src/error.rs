//! Why a request failed, in words for its sender.

use std::collections::BTreeMap;
use std::io;

use hardcost_measured::raw_syscalls::Fault;

/// A failed request.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system returned an error.
    #[error("{what}: {source}")]
    System {
        /// What was tried, and on what.
        what: String,
        /// The system's error.
        source: io::Error,
    },
    /// The request is not well-formed.
    #[error("cannot be understood: {0}")]
    Json(#[from] serde_json::Error),
    /// A failure with the logs that explain it.
    #[error("{message}")]
    Explained {
        /// What went wrong.
        message: String,
        /// The end of each log, by its path or name.
        logs: BTreeMap<String, String>,
    },
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

impl Error {
    /// The ends of the logs that explain it.
    pub fn logs(self) -> BTreeMap<String, String> {
        match self {
            Self::Explained { logs, .. } => logs,
            _ => BTreeMap::new(),
        }
    }
}

/// A fault of the measured process's library as an error of the standard library.
pub fn refusal(fault: Fault) -> io::Error {
    match fault {
        Fault::Errno(number) => io::Error::from_raw_os_error(number),
        Fault::Wrong(what) => io::Error::other(what),
    }
}

/// The result of something done for a request.
pub type Result<T> = std::result::Result<T, Error>;

/// Adds what was tried to the system's error.
pub trait Context<T> {
    /// Adds what was tried, and on what; evaluated only after a failure.
    fn context(self, what: impl FnOnce() -> String) -> Result<T>;
}

impl<T, E: Into<io::Error>> Context<T> for std::result::Result<T, E> {
    fn context(self, what: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|source| Error::System { what: what(), source: source.into() })
    }
}
