//! What is noted for a trace: begins of functions, accesses to memory, readings of the clock.

use alloc::collections::{BTreeMap, BTreeSet};

/// Why a function's accesses to memory are observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessPurpose {
    /// It wakes a process: one access is to that process's state.
    Wakes,
    /// It answers a question, by a write.
    Answers,
    /// It asks a question, and reads the answer.
    Asks,
}

/// What to note in a window; if nothing, processes are not followed.
#[derive(Default)]
pub struct TracePoints {
    /// Functions of the kernel whose begin is noted.
    traced: BTreeSet<u64>,
    /// Functions of the kernel whose accesses to memory are observed.
    observed: BTreeMap<u64, AccessPurpose>,
    /// Where a program reads the clock for the trace.
    marks: BTreeSet<u64>,
}

impl TracePoints {
    /// Adds a line of the symbols; `None` if its kind is not known.
    pub fn take(&mut self, kind: &str, address: u64) -> Option<()> {
        match kind {
            "traced" => drop(self.traced.insert(address)),
            "wakes" => drop(self.observed.insert(address, AccessPurpose::Wakes)),
            "answers" => drop(self.observed.insert(address, AccessPurpose::Answers)),
            "asks" => drop(self.observed.insert(address, AccessPurpose::Asks)),
            "mark" => drop(self.marks.insert(address)),
            _ => return None,
        }
        Some(())
    }

    /// Whether nothing is to be noted.
    pub fn is_empty(&self) -> bool {
        self.observed.is_empty()
    }

    /// Whether the begin of the function at an address is noted, for any reason.
    pub fn is_noted(&self, start: u64) -> bool {
        self.traced.contains(&start) || self.observed.contains_key(&start)
    }

    /// Why the accesses of the function that begins at an address are observed; `None` if they are
    /// not.
    pub fn access_purpose(&self, start: u64) -> Option<AccessPurpose> {
        self.observed.get(&start).copied()
    }

    /// Whether a reading of the clock there is noted.
    pub fn is_mark(&self, address: u64) -> bool {
        self.marks.contains(&address)
    }
}
