//! What a test does over and over, and where.

use std::path::PathBuf;

use crate::fault::Result;

/// The place where a copy of a test works, and its number.
#[derive(Clone, Debug)]
pub struct Place {
    /// The directory for its files.
    pub folder: PathBuf,
    /// Its number among the copies.
    pub number: usize,
}

impl Place {
    /// The path of a file of its own.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(format!("unixbench.{}.{name}", self.number))
    }
}

/// A loop of a test, on its prepared data.
pub trait Work {
    /// Operations in a loop.
    const OPERATIONS: f64 = 1.0;

    /// Does a loop.
    fn once(&mut self) -> Result<()>;

    /// Checks after `loops` of them that the results are right, and cleans up.
    fn finish(self, loops: u64) -> Result<()>;
}
