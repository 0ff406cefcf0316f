//! The clocks that can be read around a window or a program, with their names in the protocol.

pub use hardcost_measured::clock::{Clock, ClockName, Tsc};

use crate::error::{Error, Result};
use crate::guest::parallel::session::Parallel;
use crate::protocol;

/// The clock of a window: that of several processors measures programs alone.
pub fn of_window(name: protocol::ClockName) -> Result<ClockName> {
    match name {
        protocol::ClockName::Tsc => Ok(ClockName::Tsc),
        protocol::ClockName::Monotonic => Ok(ClockName::Monotonic),
        protocol::ClockName::Parallel => {
            Err(Error::Other("the clock of several processors measures programs alone".into()))
        }
    }
}

/// The clock of a program, with several processors where theirs is meant.
pub fn of_program(
    name: protocol::ClockName,
    parallel: Option<&Parallel>,
) -> Result<(ClockName, Option<&Parallel>)> {
    if name != protocol::ClockName::Parallel {
        return Ok((of_window(name)?, None));
    }
    let missing = || Error::Other("the clock of several processors was not started".into());
    Ok((ClockName::Tsc, Some(parallel.ok_or_else(missing)?)))
}
