//! What hardcost wants to have noted of the schedule.

use alloc::collections::BTreeSet;

/// What is to be noted of a window; where nothing is, nothing is followed.
#[derive(Default)]
pub struct Wanted {
    /// Functions of the kernel whose begin is noted.
    traced: BTreeSet<u64>,
    /// Functions of the kernel that make a process run.
    wakes: BTreeSet<u64>,
    /// Where a program reads the clock whose readings are noted.
    marks: BTreeSet<u64>,
}

impl Wanted {
    /// Takes over a line of the symbols; `None` if it is of no known kind.
    pub fn take(&mut self, kind: &str, address: u64) -> Option<()> {
        let set = match kind {
            "traced" => &mut self.traced,
            "wakes" => &mut self.wakes,
            "mark" => &mut self.marks,
            _ => return None,
        };
        set.insert(address);
        Some(())
    }

    /// Whether nothing is to be noted.
    pub fn is_empty(&self) -> bool {
        self.wakes.is_empty()
    }

    /// Whether the begin of the function there is noted, for one reason or the other.
    pub fn is_noted(&self, start: u64) -> bool {
        self.traced.contains(&start) || self.wakes.contains(&start)
    }

    /// Whether the function there makes a process run.
    pub fn wakes(&self, start: u64) -> bool {
        self.wakes.contains(&start)
    }

    /// Whether a reading of the clock there is noted.
    pub fn is_mark(&self, place: u64) -> bool {
        self.marks.contains(&place)
    }
}
