//! The report of one copy of a test to the process that started it.

use std::fs::File;
use std::io::Write;

use crate::fault::{Context, Result};

/// The work of one copy of a test, and its times by the clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// When it began.
    pub begin: u64,
    /// When it ended.
    pub end: u64,
    /// The number of operations.
    pub operations: f64,
}

impl Report {
    /// Writes it, in one piece.
    pub fn send(&self, mut out: &File) -> Result<()> {
        let line = format!("{} {} {}\n", self.begin, self.end, self.operations);
        out.write_all(line.as_bytes()).context(|| "reporting".into())
    }

    /// Reads it back.
    pub fn parse(line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        let report = Self {
            begin: words.next()?.parse().ok()?,
            end: words.next()?.parse().ok()?,
            operations: words.next()?.parse().ok()?,
        };
        (words.next().is_none() && report.end >= report.begin && report.operations > 0.0)
            .then_some(report)
    }
}
