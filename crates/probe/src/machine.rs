//! Which machine the probe runs on, and what follows from that for measuring.

use std::time::Duration;

use hardcost_measured::channel::Noop;
use hardcost_measured::window_start::WindowStart;

use crate::clock::ClockName;
use crate::error::Result;
use crate::guest::boot_parameters::BootParameters;
use crate::guest::root_disk;
use crate::processes::measured_program;

/// Which machine the probe runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    /// A guest, as its process 1. Nothing else runs there.
    Guest,
    /// A machine that others use too.
    Host,
}

impl Machine {
    /// The program that ends at once. On a host it is opened before the measured process becomes a
    /// user who may not reach it.
    pub fn noop(self) -> Result<Noop> {
        let path = match self {
            Self::Guest => root_disk::noop().into(),
            Self::Host => measured_program::sibling_path("hardcost-noop")?.display().to_string(),
        };
        Ok(Noop { path, keep_open: self == Self::Host })
    }

    /// When a measured call's windows begin.
    ///
    /// A guest has one processor. Work that a window leaves for later, such as records for the
    /// audit daemon, is done while the call waits, and not within a later window. A guest of
    /// services has a process that keeps the processor busy, so the call sleeps there. On a host
    /// other processors do that work, and sleep would only leave the call with cold caches. After a
    /// tick, windows begin `later` nanoseconds later than usual.
    pub fn window_start(self, clock: ClockName, later: u32) -> WindowStart {
        match (self, clock) {
            (Self::Host, _) => WindowStart::Immediate,
            (Self::Guest, ClockName::Tsc) if !BootParameters::read().runs_services() => {
                WindowStart::AfterTick { later }
            }
            (Self::Guest, _) => WindowStart::AfterSleep(Duration::from_millis(1)),
        }
    }
}
