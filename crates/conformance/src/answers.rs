//! The answers of a battery of calls, written as one JSON object a line.

use std::io::Write;

use anyhow::Result;
use serde::Serialize;

/// One line of the answers.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum Answer {
    /// The first line: which file is at each path that the job names.
    Files {
        /// The file at each path; null where there is none.
        files: Vec<Option<FileAnswer>>,
    },
    /// What the kernel records of one call when everything is recorded.
    Learned {
        /// The call's index.
        call: usize,
        /// The call's result: what the kernel answered, or the wait status of a child that made it.
        result: i64,
        /// The records of its event: kind and text.
        records: Vec<(u16, String)>,
    },
    /// The result of the calls under one rule set.
    Set(SetAnswer),
}

/// The file at a path. Files are known by their device's major and minor number and their inode's.
#[derive(Debug, Serialize)]
pub struct FileAnswer {
    /// The file.
    pub file: (u32, u32, u64),
    /// The one that the directory's entry leads to: another where something is mounted on it.
    pub entry: (u32, u32, u64),
    /// The magic number of the file system; null for a symbolic link.
    pub kind: Option<i64>,
}

/// The result of the calls under one rule set.
#[derive(Debug, Serialize)]
pub struct SetAnswer {
    /// The set's index.
    pub set: usize,
    /// What auditctl complained about; its lines are one ahead of the set's.
    pub complaints: String,
    /// Rules that the kernel held.
    pub loaded: usize,
    /// Records that the kernel has dropped since it started.
    pub lost: u32,
    /// What `auditctl -l` printed, where it was asked for.
    pub listing: Option<String>,
    /// The keys of the records, as written there.
    pub keys: Vec<String>,
    /// For each SYSCALL record of a call: the call's index and its key's.
    pub recorded: Vec<(usize, usize)>,
    /// For each such call the kinds of all records of its event, in their order.
    pub kinds: Vec<(usize, Vec<u16>)>,
    /// Calls whose result was another than when they were learned, with that result.
    pub changed: Vec<(usize, i64)>,
}

/// The output for answers.
pub struct Answers<W: Write>(pub W);

impl<W: Write> Answers<W> {
    /// Writes one answer.
    pub fn write(&mut self, answer: &Answer) -> Result<()> {
        serde_json::to_writer(&mut self.0, answer)?;
        Ok(self.0.write_all(b"\n")?)
    }
}
