//! What a measured call is.

use alloc::ffi::CString;

use crate::pace::Pace;
use crate::sys::Fault;

/// What a call is given to prepare itself.
pub struct Setup {
    /// Operations in each window.
    pub batch: u32,
    /// When each window begins.
    pub pace: Pace,
    /// The program that ends at once.
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
