//! The recorder `avc`: the statistics of `SELinux`'s access vector cache.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;

use crate::protocol::AvcSeen;
use crate::recorders::time_series::{self, steps};

const STATISTICS: &str = "/sys/fs/selinux/avc/cache_stats";
/// The columns of the statistics, which have a line for each processor.
const COLUMNS: [&str; 6] = ["lookups", "hits", "misses", "allocations", "reclaims", "frees"];
/// More bytes than the statistics have in any guest.
const LONGEST: usize = 16 << 10;

type Row = [u64; COLUMNS.len()];

/// The statistics over time.
pub struct AvcRecorder {
    file: File,
    start: Row,
    rows: Vec<Row>,
}

impl AvcRecorder {
    /// Begins; `None` where `SELinux` is off.
    pub fn begin() -> Option<Self> {
        let file = File::open(STATISTICS).ok()?;
        let start = read(&file)?;
        Some(Self { file, start, rows: Vec::new() })
    }

    /// Takes a row.
    pub fn take(&mut self) {
        let before = self.rows.last().copied().unwrap_or(self.start);
        self.rows.push(read(&self.file).unwrap_or(before));
    }

    /// Keeps every other row.
    pub fn thin(&mut self) {
        time_series::thin(&mut self.rows);
    }

    /// Everything recorded.
    pub fn end(self) -> AvcSeen {
        let series: BTreeMap<_, _> = COLUMNS
            .iter()
            .enumerate()
            .map(|(column, &name)| {
                let numbers: Vec<u64> = self.rows.iter().map(|row| row[column]).collect();
                (name, steps(self.start[column], &numbers))
            })
            .collect();
        let totals = series.iter().map(|(&name, steps)| (name, steps.iter().sum())).collect();
        AvcSeen { totals, series }
    }
}

fn read(file: &File) -> Option<Row> {
    let mut text = vec![0; LONGEST];
    let length = file.read_at(&mut text, 0).ok()?;
    sum(&String::from_utf8_lossy(&text[..length]))
}

/// The sum over all processors' lines, below the line of headings.
fn sum(text: &str) -> Option<Row> {
    let mut lines = text.lines();
    lines.next().filter(|headings| headings.split_whitespace().eq(COLUMNS))?;
    let mut row = Row::default();
    for line in lines {
        for (total, field) in row.iter_mut().zip(line.split_whitespace()) {
            *total += field.parse::<u64>().ok()?;
        }
    }
    Some(row)
}

#[cfg(test)]
mod tests {
    use super::sum;

    #[test]
    fn the_lines_of_all_processors_are_added() {
        let text = "lookups hits misses allocations reclaims frees\n10 9 1 1 0 0\n20 18 2 2 1 1\n";
        assert_eq!(sum(text), Some([30, 27, 3, 3, 1, 1]));
        assert_eq!(sum("other headings\n1 2\n"), None);
        assert_eq!(sum(""), None);
    }
}
