//! A call by its name, measured by either clock.

use alloc::vec::Vec;

use crate::call::{Call, Setup};
use crate::clock::{Clock, ClockName, Monotonic, Tsc};
use crate::messages::{Failure, Plan};
use crate::pace::Pacer;
use crate::sys::Fault;
use crate::window::{Samples, window};

/// What happens around the samples: both sides of the measured process's conversation.
pub trait Handshake {
    /// Prepared and warm; returns when measuring may begin.
    fn begin(&mut self) -> Result<(), Failure>;
    /// The last window is over; what is done from here on does not count.
    fn finish(&mut self) -> Result<(), Failure>;
}

/// A call by name.
pub struct Entry {
    /// Its name in the protocol.
    pub name: &'static str,
    tsc: Run,
    monotonic: Run,
}

type Run = fn(&Plan, &Setup, &mut dyn Handshake) -> Result<Vec<u64>, Stopped>;

/// Why a measurement failed.
enum Stopped {
    /// The call did.
    Call(Fault),
    /// The conversation did.
    Handshake(Failure),
}

impl From<Fault> for Stopped {
    fn from(fault: Fault) -> Self {
        Self::Call(fault)
    }
}

impl Entry {
    /// The call of that type.
    pub const fn of<C: Call>(name: &'static str) -> Self {
        Self { name, tsc: run::<Tsc, C>, monotonic: run::<Monotonic, C> }
    }

    /// Measures the call and returns each window's length in the clock's unit: of as many windows
    /// as the plan says, or fewer where their median has settled.
    pub fn run(
        &self,
        clock: ClockName,
        plan: &Plan,
        setup: &Setup,
        handshake: &mut dyn Handshake,
    ) -> Result<Vec<u64>, Failure> {
        let run = match clock {
            ClockName::Tsc => self.tsc,
            ClockName::Monotonic => self.monotonic,
        };
        run(plan, setup, handshake).map_err(|stopped| match stopped {
            Stopped::Call(fault) => Failure::of(["call ", self.name].concat(), fault),
            Stopped::Handshake(failure) => failure,
        })
    }
}

fn run<K: Clock, C: Call>(
    plan: &Plan,
    setup: &Setup,
    handshake: &mut dyn Handshake,
) -> Result<Vec<u64>, Stopped> {
    let mut samples = Samples::new(plan.samples as usize)?;
    let mut call = C::prepare(setup)?;
    let pacer = Pacer::new(setup.pace);
    let mut sample = || {
        pacer.wait(plan.apart)?;
        window::<K, C>(&mut call, plan.batch)
    };
    for _ in 0..plan.warmup {
        sample()?;
    }
    handshake.begin().map_err(Stopped::Handshake)?;
    let mut settled = Settled::new(plan.enough);
    let mut taken = 0;
    for slot in samples.slots() {
        *slot = sample()?;
        taken += 1;
        if settled.with(*slot) {
            break;
        }
    }
    handshake.finish().map_err(Stopped::Handshake)?;
    Ok(samples.slots()[..taken].to_vec())
}

/// Whether further samples would change anything: their median has not for a while.
struct Settled {
    /// So many samples in a row that leave the median as it is are enough; 0 is never enough.
    enough: u32,
    unchanged: u32,
    median: u64,
    sorted: Vec<u64>,
}

impl Settled {
    fn new(enough: u32) -> Self {
        Self { enough, unchanged: 0, median: 0, sorted: Vec::new() }
    }

    /// Whether it has, with one sample more.
    fn with(&mut self, sample: u64) -> bool {
        if self.enough == 0 {
            return false;
        }
        let at = self.sorted.partition_point(|&other| other < sample);
        self.sorted.insert(at, sample);
        let median = self.sorted[self.sorted.len() / 2];
        self.unchanged = if median == self.median { self.unchanged + 1 } else { 1 };
        self.median = median;
        self.unchanged == self.enough
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::Settled;

    fn taken(enough: u32, samples: &[u64]) -> usize {
        let mut settled = Settled::new(enough);
        samples.iter().position(|&sample| settled.with(sample)).map_or(samples.len(), |at| at + 1)
    }

    #[test]
    fn equal_samples_end_as_soon_as_there_are_enough() {
        assert_eq!(taken(3, &[7; 9]), 3);
        assert_eq!(taken(3, &[9, 7, 7, 7, 7, 7]), 5);
    }

    #[test]
    fn an_odd_sample_now_and_then_does_not_prolong_it() {
        assert_eq!(taken(4, &[7, 7, 8, 7, 7, 7, 7, 7]), 4);
    }

    #[test]
    fn samples_that_grow_do_not_end_early_nor_does_0() {
        let growing: Vec<u64> = (0..20).collect();
        assert_eq!(taken(3, &growing), 20);
        assert_eq!(taken(0, &[7; 9]), 9);
    }
}
