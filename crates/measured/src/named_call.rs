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

    /// Measures the call and returns each window's length in the clock's unit.
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
    #[cfg(not(feature = "planted"))]
    let mut call = C::prepare(setup)?;
    #[cfg(feature = "planted")]
    let mut call = crate::planted::Planted::new(C::prepare(setup)?, plan.apart);
    let pacer = Pacer::new(setup.pace);
    let mut sample = || {
        pacer.wait(plan.apart)?;
        window::<K, _>(&mut call, plan.batch)
    };
    for _ in 0..plan.warmup {
        sample()?;
    }
    handshake.begin().map_err(Stopped::Handshake)?;
    for slot in samples.slots() {
        *slot = sample()?;
    }
    handshake.finish().map_err(Stopped::Handshake)?;
    Ok(samples.slots().to_vec())
}
