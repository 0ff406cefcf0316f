//! The system calls that can be measured.
//!
//! Each is a type that implements [`Call`]; [`ALL`] lists them. Where a name stands for more than
//! one system call, or for another than the one of that name, its type says so.

mod basic;
mod exchange;
mod files;
mod memory;
mod names;
mod network;
mod partner;
mod process;
mod select;
mod signal;
mod window;

use std::ffi::CString;

use self::window::{Samples, window};
use crate::clock::{Clock, ClockName, Monotonic, Tsc};
use crate::pace::{Pace, Pacer};
use crate::protocol::CallPlan;
use crate::sys::Fault;

/// What a call is given to prepare itself.
pub struct Setup {
    /// Operations in each window.
    pub batch: u32,
    /// When each window begins.
    pub pace: Pace,
    /// The program that ends at once when executed under the name `noop`.
    pub noop: CString,
}

/// A measured system call, or a few that belong together.
///
/// It runs as an ordinary user in an empty working directory of its own. Each operation leaves
/// things so that the next one finds them as it did. What it made, it need not remove.
pub trait Call: Sized {
    /// Makes what the operation needs. Not timed.
    fn prepare(setup: &Setup) -> Result<Self, Fault>;

    /// Done before each window. Not timed.
    fn before(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    /// The operation that is timed. It makes system calls and does next to nothing else.
    fn operate(&mut self) -> Result<(), Fault>;

    /// Done after each window. Not timed.
    fn after(&mut self) -> Result<(), Fault> {
        Ok(())
    }
}

/// What happens around the samples: both sides of the measured child's conversation.
pub trait Handshake {
    /// Prepared and warm; returns when measuring may begin.
    fn begin(&mut self) -> crate::error::Result<()>;
    /// The last window is over; what is done from here on does not count.
    fn finish(&mut self) -> crate::error::Result<()>;
}

/// A call by name.
pub struct Entry {
    /// Its name in the protocol.
    pub name: &'static str,
    tsc: Run,
    monotonic: Run,
}

type Run = fn(&CallPlan, &Setup, &mut dyn Handshake) -> Result<Vec<u64>, Failure>;

/// Why a measurement failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The call did.
    #[error("{0}")]
    Call(Fault),
    /// The conversation did.
    #[error(transparent)]
    Handshake(#[from] crate::error::Error),
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self::Call(fault)
    }
}

/// Everything that can be measured, in the order in which it is listed.
pub const ALL: &[Entry] = &[
    entry::<basic::Null>("null"),
    entry::<basic::Read>("read"),
    entry::<basic::Write>("write"),
    entry::<files::Stat>("stat"),
    entry::<files::Fstat>("fstat"),
    entry::<files::Open>("open"),
    entry::<files::Access>("access"),
    entry::<files::Lseek>("lseek"),
    entry::<memory::Mmap>("mmap"),
    entry::<memory::PageFault>("page-fault"),
    entry::<exchange::Pipe>("pipe"),
    entry::<exchange::Unix>("unix"),
    entry::<select::Select>("select"),
    entry::<signal::Signal>("signal"),
    entry::<exchange::ContextSwitch>("context-switch"),
    entry::<process::Fork>("fork"),
    entry::<process::Exec>("exec"),
    entry::<names::Creat>("creat"),
    entry::<names::Rename>("rename"),
    entry::<names::Link>("link"),
    entry::<names::Mkdir>("mkdir"),
    entry::<files::Chmod>("chmod"),
    entry::<files::Chown>("chown"),
    entry::<files::Utimensat>("utimensat"),
    entry::<files::Setxattr>("setxattr"),
    entry::<network::Connect>("connect"),
];

const fn entry<C: Call>(name: &'static str) -> Entry {
    Entry { name, tsc: run::<Tsc, C>, monotonic: run::<Monotonic, C> }
}

/// The call of that name.
pub fn find(name: &str) -> Option<&'static Entry> {
    ALL.iter().find(|entry| entry.name == name)
}

impl Entry {
    /// Measures the call and returns each window's length in the clock's unit.
    pub fn run(
        &self,
        clock: ClockName,
        plan: &CallPlan,
        setup: &Setup,
        handshake: &mut dyn Handshake,
    ) -> Result<Vec<u64>, Failure> {
        let run = match clock {
            ClockName::Tsc => self.tsc,
            ClockName::Monotonic => self.monotonic,
        };
        run(plan, setup, handshake)
    }
}

fn run<K: Clock, C: Call>(
    plan: &CallPlan,
    setup: &Setup,
    handshake: &mut dyn Handshake,
) -> Result<Vec<u64>, Failure> {
    let mut samples = Samples::new(plan.samples as usize)?;
    let mut call = C::prepare(setup)?;
    let pacer = Pacer::new(setup.pace)?;
    let mut sample = || {
        pacer.wait()?;
        window::<K, C>(&mut call, plan.batch)
    };
    for _ in 0..plan.warmup {
        sample()?;
    }
    handshake.begin()?;
    for slot in samples.slots() {
        *slot = sample()?;
    }
    handshake.finish()?;
    Ok(samples.slots().to_vec())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{ALL, find};

    #[test]
    fn each_name_is_there_once() {
        let names: BTreeSet<_> = ALL.iter().map(|entry| entry.name).collect();
        assert_eq!(names.len(), ALL.len());
        assert!(find("context-switch").is_some());
        assert!(find("sleep").is_none());
    }
}
