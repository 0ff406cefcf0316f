//! What hardcost wants to have noted of the schedule.

use alloc::collections::{BTreeMap, BTreeSet};

/// Why the plugin wants to hear of a function's accesses to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// It makes a process run: one of them is to that process's state.
    Wakes,
    /// It answers a question, by a write.
    Answers,
    /// It asks, and waits for an answer, which it reads.
    Asks,
}

/// What is to be noted of a window; where nothing is, nothing is followed.
#[derive(Default)]
pub struct Wanted {
    /// Functions of the kernel whose begin is noted.
    traced: BTreeSet<u64>,
    /// Functions of the kernel whose accesses to memory are heard of.
    heard: BTreeMap<u64, Heard>,
    /// Where a program reads the clock whose readings are noted.
    marks: BTreeSet<u64>,
}

impl Wanted {
    /// Takes over a line of the symbols; `None` if it is of no known kind.
    pub fn take(&mut self, kind: &str, address: u64) -> Option<()> {
        match kind {
            "traced" => drop(self.traced.insert(address)),
            "wakes" => drop(self.heard.insert(address, Heard::Wakes)),
            "answers" => drop(self.heard.insert(address, Heard::Answers)),
            "asks" => drop(self.heard.insert(address, Heard::Asks)),
            "mark" => drop(self.marks.insert(address)),
            _ => return None,
        }
        Some(())
    }

    /// Whether nothing is to be noted.
    pub fn is_empty(&self) -> bool {
        self.heard.is_empty()
    }

    /// Whether the begin of the function there is noted, for one reason or the other.
    pub fn is_noted(&self, start: u64) -> bool {
        self.traced.contains(&start) || self.heard.contains_key(&start)
    }

    /// Why accesses to memory are heard of, of the function that begins there; `None` if not at all.
    pub fn heard(&self, start: u64) -> Option<Heard> {
        self.heard.get(&start).copied()
    }

    /// Whether a reading of the clock there is noted.
    pub fn is_mark(&self, place: u64) -> bool {
        self.marks.contains(&place)
    }
}
