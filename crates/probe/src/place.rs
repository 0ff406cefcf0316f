//! Where the probe runs.

use std::time::Duration;

use hardcost_measured::channel::Noop;
use hardcost_measured::pace::Pace;

use crate::bootline::BootLine;
use crate::clock::ClockName;
use crate::error::Result;
use crate::{measured, root};

/// Where the probe runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// As process 1 of a guest that is there for nothing else.
    Guest,
    /// On a machine that others use too.
    Host,
}

impl Place {
    /// The program that ends at once. On a host it is opened before the measured process becomes a
    /// user who may not reach it.
    pub fn noop(self) -> Result<Noop> {
        let path = match self {
            Self::Guest => root::noop().into(),
            Self::Host => measured::beside("hardcost-noop")?.display().to_string(),
        };
        Ok(Noop { path, hold: self == Self::Host })
    }

    /// When a measured call's windows begin.
    ///
    /// A guest has one processor. What a window leaves behind for others, such as records for the
    /// audit daemon, is done while the call waits, and not in the midst of some later window. A
    /// guest of services runs a process that keeps the processor busy, so there the call sleeps. On
    /// a host there are other processors for that, and sleep would only leave the call with cold
    /// caches. By ticks, they begin `later` nanoseconds after usual.
    pub fn pace(self, clock: ClockName, later: u32) -> Pace {
        match (self, clock) {
            (Self::Host, _) => Pace::None,
            (Self::Guest, ClockName::Tsc) if !BootLine::read().runs_services() => {
                Pace::Tick { later }
            }
            (Self::Guest, _) => Pace::Pause(Duration::from_millis(1)),
        }
    }
}
