//! Where the probe runs.

use std::ffi::CString;
use std::time::Duration;

use crate::bootline::BootLine;
use crate::clock::ClockName;
use crate::pace::Pace;
use crate::root;

/// Where the probe runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// As process 1 of a guest that is there for nothing else.
    Guest,
    /// On a machine that others use too.
    Host,
}

impl Place {
    /// The program that ends at once when executed under the name `noop`.
    pub fn noop(self) -> CString {
        match self {
            Self::Guest if root::has_noop() => root::NOOP.into(),
            Self::Guest => c"/bin/noop".into(),
            Self::Host => c"/proc/self/exe".into(),
        }
    }

    /// When a measured call's windows begin.
    ///
    /// A guest has one processor. What a window leaves behind for others, such as records for the
    /// audit daemon, is done while the call sleeps, and not in the midst of some later window. In
    /// an idle guest under the instruction counter sleep takes no time; a real clock, or a guest
    /// that is kept busy, would take as long as that says. On a host there are other processors for
    /// that, and sleep would only leave the call with cold caches.
    pub fn pace(self, clock: ClockName) -> Pace {
        match (self, clock) {
            (Self::Host, _) => Pace::None,
            (Self::Guest, ClockName::Tsc) if !BootLine::read().spins => Pace::Tick,
            (Self::Guest, _) => Pace::Pause(Duration::from_millis(1)),
        }
    }
}
