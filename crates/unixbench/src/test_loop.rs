//! The loop of a test, and the folder that it works in.

use std::path::PathBuf;

use crate::fault::Result;

/// The folder in which a copy of a test works, and the copy's number.
#[derive(Clone, Debug)]
pub struct WorkFolder {
    /// The directory for its files.
    pub folder: PathBuf,
    /// Its number among the copies.
    pub number: usize,
}

impl WorkFolder {
    /// The path of a file of this copy's own.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(format!("unixbench.{}.{name}", self.number))
    }
}

/// A loop of a test, on its prepared data.
pub trait TestLoop {
    /// Operations in a loop.
    const OPERATIONS: f64 = 1.0;

    /// Does a loop.
    fn once(&mut self) -> Result<()>;

    /// Checks after `loops` of them that the results are right, and cleans up.
    fn finish(self, loops: u64) -> Result<()>;
}
