//! A call by its name, and the run of its windows with either clock.

use alloc::vec::Vec;

use crate::call::{Call, CallSetup};
use crate::clock::{Clock, ClockName, Monotonic, Tsc};
use crate::messages::{Failure, Plan};
use crate::raw_syscalls::Fault;
use crate::window::{Samples, window};
use crate::window_start::WindowTimer;

/// What the process does before and after the samples.
pub trait Handshake {
    /// The call is prepared and warm. Returns when measuring may begin.
    fn begin(&mut self) -> Result<(), Failure>;
    /// The last window is over. What follows is not counted.
    fn finish(&mut self) -> Result<(), Failure>;
}

/// A call with its name, for both clocks.
pub struct NamedCall {
    /// Its name in the protocol.
    pub name: &'static str,
    tsc: Run,
    monotonic: Run,
}

type Run = fn(&Plan, &CallSetup, &mut dyn Handshake) -> Result<Vec<u64>, RunFailure>;

/// Why a measurement failed.
enum RunFailure {
    /// The call failed.
    Call(Fault),
    /// The handshake failed.
    Handshake(Failure),
}

impl From<Fault> for RunFailure {
    fn from(fault: Fault) -> Self {
        Self::Call(fault)
    }
}

impl NamedCall {
    /// The call of that type.
    pub const fn of<C: Call>(name: &'static str) -> Self {
        Self { name, tsc: run::<Tsc, C>, monotonic: run::<Monotonic, C> }
    }

    /// Measures the call and returns each window's length in the clock's unit.
    pub fn run(
        &self,
        clock: ClockName,
        plan: &Plan,
        setup: &CallSetup,
        handshake: &mut dyn Handshake,
    ) -> Result<Vec<u64>, Failure> {
        let run = match clock {
            ClockName::Tsc => self.tsc,
            ClockName::Monotonic => self.monotonic,
        };
        run(plan, setup, handshake).map_err(|stopped| match stopped {
            RunFailure::Call(fault) => Failure::of(["call ", self.name].concat(), fault),
            RunFailure::Handshake(failure) => failure,
        })
    }
}

fn run<K: Clock, C: Call>(
    plan: &Plan,
    setup: &CallSetup,
    handshake: &mut dyn Handshake,
) -> Result<Vec<u64>, RunFailure> {
    let mut samples = Samples::new(plan.samples as usize)?;
    #[cfg(not(feature = "planted"))]
    let mut call = C::prepare(setup)?;
    #[cfg(feature = "planted")]
    let mut call = crate::planted_cost::PlantedCost::new(C::prepare(setup)?, plan.apart);
    let timer = WindowTimer::new(setup.window_start);
    let mut sample = || {
        call.before()?;
        timer.wait(plan.apart)?;
        window::<K, _>(&mut call, plan.batch)
    };
    for _ in 0..plan.warmup {
        sample()?;
    }
    handshake.begin().map_err(RunFailure::Handshake)?;
    for slot in samples.slots() {
        *slot = sample()?;
    }
    handshake.finish().map_err(RunFailure::Handshake)?;
    Ok(samples.slots().to_vec())
}
