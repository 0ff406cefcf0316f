//! The processors of the host that a test may use.

use rustix::thread::{CpuSet, sched_getaffinity};

/// Their numbers, the lowest first.
pub fn processors() -> Vec<usize> {
    let set = sched_getaffinity(None).expect("known");
    (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect()
}
