//! CPU affinity: which processor runs which process.

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::error::{Context, Error, Result};

/// The processors that may be used.
#[derive(Debug, Default)]
pub struct Processors {
    /// All of them, from before this process was pinned to one; `None`: it was never pinned.
    all: Option<Vec<usize>>,
    /// The one that this process, and so what it measures, is pinned to.
    own: Option<usize>,
}

/// The processors of a measured process and of its copies, all different.
#[derive(Debug, PartialEq, Eq)]
pub struct Allocation {
    /// The measured process's.
    pub measured: usize,
    /// Those of its copies.
    pub others: Vec<usize>,
}

impl Processors {
    /// Pins this process, and all that it starts from now on, to one processor.
    pub fn pin(own: usize) -> Result<Self> {
        let all = usable()?;
        pin(None, own)?;
        Ok(Self { all: Some(all), own: Some(own) })
    }

    /// The processors of so many copies in all; `None`: there is one alone.
    pub fn for_copies(&self, copies: Option<u32>) -> Result<Option<Allocation>> {
        let processes = usize::try_from(copies.unwrap_or(1)).unwrap_or(usize::MAX);
        (processes > 1).then(|| self.allocate(processes)).transpose()
    }

    /// Allocates processors to so many processes. Too few processors are an error.
    fn allocate(&self, processes: usize) -> Result<Allocation> {
        let all = self.all.as_ref().map_or_else(usable, |all| Ok(all.clone()))?;
        let own = self.own.or(all.last().copied()).unwrap_or(0);
        let others: Vec<_> = all.iter().copied().filter(|&cpu| cpu != own).collect();
        match others.get(..processes.saturating_sub(1)) {
            Some(others) => Ok(Allocation { measured: own, others: others.to_vec() }),
            None => Err(Error::Other(format!(
                "{processes} copies need as many processors, and there are {}",
                others.len() + 1
            ))),
        }
    }
}

/// Pins a process to one processor; `None`: this process.
pub fn pin(process: Option<Pid>, cpu: usize) -> Result<()> {
    let what = || format!("processor {cpu}");
    if cpu >= CpuSet::MAX_CPU {
        return Err(Error::Other(format!("{}: its number is too high", what())));
    }
    let mut one = CpuSet::new();
    one.set(cpu);
    sched_setaffinity(process, &one).context(what)
}

/// The processors that this process may use now.
fn usable() -> Result<Vec<usize>> {
    let set = sched_getaffinity(None).context(|| "which processors may be used".into())?;
    Ok((0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect())
}

#[cfg(test)]
mod tests {
    use super::{Allocation, Processors, pin, usable};

    #[test]
    fn each_process_gets_a_processor_of_its_own() {
        let four = Processors { all: Some(vec![0, 2, 3, 7]), own: Some(3) };
        let of = |processes| four.allocate(processes).map_err(|error| error.to_string());
        assert_eq!(of(1), Ok(Allocation { measured: 3, others: vec![] }));
        assert_eq!(of(4), Ok(Allocation { measured: 3, others: vec![0, 2, 7] }));
        let refused = "5 copies need as many processors, and there are 4";
        assert_eq!(of(5), Err(refused.to_owned()));
    }

    #[test]
    fn who_was_held_on_none_is_measured_on_the_last() {
        let last = usable().expect("some").pop();
        let none = Processors::default();
        assert_eq!(Some(none.allocate(1).expect("one").measured), last);
        assert_eq!(none.for_copies(None).expect("alone"), None);
    }

    #[test]
    fn a_thread_is_held_on_one_and_others_are_still_known() {
        std::thread::spawn(|| {
            let all = usable().expect("some");
            let own = *all.last().expect("one");
            let held = Processors::pin(own).expect("held");
            assert_eq!(usable().expect("some"), [own]);
            let others = held.allocate(all.len()).expect("all").others;
            assert_eq!(others, all[..all.len() - 1]);
        })
        .join()
        .expect("no failure");
        assert!(pin(None, 1 << 20).is_err());
    }
}
