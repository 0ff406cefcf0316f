//! Rows of a time series, of which every other one is dropped when there are too many.

use std::time::Duration;

/// The number of rows at which every other one is dropped.
pub const MOST: usize = 2048;

/// Drops the first of each two rows. A row holds a state, or counts from the begin.
pub fn thin<T>(rows: &mut Vec<T>) {
    let mut index = 0;
    rows.retain(|_| {
        index += 1;
        index % 2 == 0
    });
}

/// The difference from each number to the one before it; the first is compared with `start`.
pub fn steps(start: u64, numbers: &[u64]) -> Vec<u64> {
    let before = std::iter::once(&start).chain(numbers);
    numbers.iter().zip(before).map(|(now, before)| now.saturating_sub(*before)).collect()
}

/// A duration in nanoseconds.
pub fn whole(length: Duration) -> u64 {
    u64::try_from(length.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::{steps, thin};

    #[test]
    fn every_other_row_is_dropped_and_the_last_of_an_even_number_kept() {
        let mut rows = vec![1, 2, 3, 4];
        thin(&mut rows);
        assert_eq!(rows, [2, 4]);
    }

    #[test]
    fn steps_add_up_to_the_whole() {
        assert_eq!(steps(5, &[5, 7, 20]), [0, 2, 13]);
        assert!(steps(0, &[]).is_empty());
    }
}
