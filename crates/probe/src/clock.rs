//! The clocks that can be read around a window, with their names in the protocol.

pub use hardcost_measured::clock::{Clock, ClockName, Tsc};

use crate::protocol;

impl From<protocol::ClockName> for ClockName {
    fn from(name: protocol::ClockName) -> Self {
        match name {
            protocol::ClockName::Tsc => Self::Tsc,
            protocol::ClockName::Monotonic => Self::Monotonic,
        }
    }
}
