//! Which processor runs whom.

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::error::{Context, Error, Result};

/// The processors that may be used.
#[derive(Debug, Default)]
pub struct Processors {
    /// All of them, from before this process was held on one; `None`: it never was.
    all: Option<Vec<usize>>,
    /// The one that this process, and so what it measures, is held on.
    own: Option<usize>,
}

/// The processors of a measured process and of its companions, each another.
#[derive(Debug, PartialEq, Eq)]
pub struct Allotted {
    /// The measured process's.
    pub measured: usize,
    /// A companion's each.
    pub others: Vec<usize>,
}

impl Processors {
    /// Holds this process, and all that it starts from here on, on one processor.
    pub fn hold(own: usize) -> Result<Self> {
        let all = usable()?;
        hold(None, own)?;
        Ok(Self { all: Some(all), own: Some(own) })
    }

    /// The processors of so many copies of what is measured; `None`: it is alone.
    pub fn beside(&self, copies: Option<u32>) -> Result<Option<Allotted>> {
        let processes = usize::try_from(copies.unwrap_or(1)).unwrap_or(usize::MAX);
        (processes > 1).then(|| self.allot(processes)).transpose()
    }

    /// Shares the processors out to so many processes; fewer processors are an error.
    fn allot(&self, processes: usize) -> Result<Allotted> {
        let all = self.all.as_ref().map_or_else(usable, |all| Ok(all.clone()))?;
        let own = self.own.or(all.last().copied()).unwrap_or(0);
        let others: Vec<_> = all.iter().copied().filter(|&cpu| cpu != own).collect();
        match others.get(..processes.saturating_sub(1)) {
            Some(others) => Ok(Allotted { measured: own, others: others.to_vec() }),
            None => Err(Error::Other(format!(
                "{processes} copies need as many processors, and there are {}",
                others.len() + 1
            ))),
        }
    }
}

/// Holds a process on one processor; `None`: this one.
pub fn hold(process: Option<Pid>, cpu: usize) -> Result<()> {
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
    use super::{Allotted, Processors, hold, usable};

    #[test]
    fn each_process_gets_a_processor_of_its_own() {
        let four = Processors { all: Some(vec![0, 2, 3, 7]), own: Some(3) };
        let of = |processes| four.allot(processes).map_err(|error| error.to_string());
        assert_eq!(of(1), Ok(Allotted { measured: 3, others: vec![] }));
        assert_eq!(of(4), Ok(Allotted { measured: 3, others: vec![0, 2, 7] }));
        let refused = "5 copies need as many processors, and there are 4";
        assert_eq!(of(5), Err(refused.to_owned()));
    }

    #[test]
    fn who_was_held_on_none_is_measured_on_the_last() {
        let last = usable().expect("some").pop();
        let none = Processors::default();
        assert_eq!(Some(none.allot(1).expect("one").measured), last);
        assert_eq!(none.beside(None).expect("alone"), None);
    }

    #[test]
    fn a_thread_is_held_on_one_and_others_are_still_known() {
        std::thread::spawn(|| {
            let all = usable().expect("some");
            let own = *all.last().expect("one");
            let held = Processors::hold(own).expect("held");
            assert_eq!(usable().expect("some"), [own]);
            let others = held.allot(all.len()).expect("all").others;
            assert_eq!(others, all[..all.len() - 1]);
        })
        .join()
        .expect("no failure");
        assert!(hold(None, 1 << 20).is_err());
    }
}
