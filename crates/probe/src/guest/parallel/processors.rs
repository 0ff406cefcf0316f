//! The processors, and who may run on which.

use std::fs;

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_setaffinity};

use crate::error::{Context, Error, Result};

/// The processor with the clock.
pub const CLOCK: usize = 0;
/// The first measured processor.
const FIRST: usize = 2;
/// Who works off what the kernel defers may be on these, as a hexadecimal mask.
const UNBOUND_WORK: &str = "/sys/devices/virtual/workqueue/cpumask";
/// The kernel's processes.
const PROCESSES: &str = "/proc";

/// The measured processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    number: usize,
}

impl Measured {
    /// So many processors.
    pub fn new(number: usize) -> Result<Self> {
        if (2..=hardcost_linux::parallel_clock::MOST - FIRST).contains(&number) {
            return Ok(Self { number });
        }
        Err(Error::Other(format!("{number} processors can't be measured")))
    }

    /// Each of them.
    pub fn each(self) -> impl Iterator<Item = usize> {
        FIRST..FIRST + self.number
    }

    /// Keeps this process, and all that it starts from now on, on the first of them.
    pub fn keep_on_first() -> Result<()> {
        keep(None, FIRST..=FIRST)
    }

    /// Lets this process, and all that it starts from now on, run on all of them.
    pub fn keep_own(self) -> Result<()> {
        keep(None, self.each())
    }

    /// Keeps the kernel's own threads on them, but for those that belong to one processor.
    pub fn keep_kernel(self) -> Result<()> {
        let mask = self.each().fold(0_u64, |mask, cpu| mask | 1 << cpu);
        fs::write(UNBOUND_WORK, format!("{mask:x}\n")).context(|| UNBOUND_WORK.into())?;
        for entry in fs::read_dir(PROCESSES).context(|| PROCESSES.into())?.flatten() {
            let pid = entry.file_name().to_str().and_then(|name| name.parse().ok());
            if let Some(pid) = pid.and_then(Pid::from_raw).filter(|&pid| is_kernels(pid)) {
                // Refused for those that belong to one processor.
                let _ = keep(Some(pid), self.each());
            }
        }
        Ok(())
    }
}

/// Whether a process is a thread of the kernel's: only those have no memory.
fn is_kernels(pid: Pid) -> bool {
    let path = format!("{PROCESSES}/{}/statm", pid.as_raw_nonzero());
    fs::read_to_string(path).is_ok_and(|text| text.starts_with("0 "))
}

/// Keeps a process on some processors; `None`: this process.
pub fn keep(process: Option<Pid>, processors: impl IntoIterator<Item = usize>) -> Result<()> {
    let mut set = CpuSet::new();
    for cpu in processors {
        set.set(cpu);
    }
    sched_setaffinity(process, &set).context(|| "keeping a process on some processors".into())
}

#[cfg(test)]
mod tests {
    use super::Measured;

    #[test]
    fn the_first_two_are_not_measured() {
        let four = Measured::new(4).expect("possible");
        assert_eq!(four.each().collect::<Vec<_>>(), [2, 3, 4, 5]);
        assert!(Measured::new(1).is_err());
        assert!(Measured::new(62).is_err());
    }
}
