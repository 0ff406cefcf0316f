//! The length of a turn.
//!
//! QEMU gives each processor a fixed part of what is left until the next timer goes off. A timer of
//! a device, whose interrupt is off, makes that time short.

use crate::error::{Error, Result};
use crate::guest::event_timer::EventTimer;

/// Makes a timer go off, without an interrupt, each so many nanoseconds of the guest's clock.
pub fn shorten(nanoseconds: u32) -> Result<()> {
    let refused = |why: &str| Error::Other(format!("the turns of processors can't be set: {why}"));
    let timer = EventTimer::open().ok_or_else(|| {
        refused("the kernel refuses /dev/mem, or the machine has no high-precision event timer")
    })?;
    if timer.is_used() {
        return Err(refused("the kernel uses the high-precision event timer"));
    }
    timer.tick_unheard(nanoseconds);
    Ok(())
}

/// Takes `shorten` back.
pub fn lengthen() {
    if let Some(timer) = EventTimer::open() {
        timer.silence();
    }
}
