//! The trait of a measured call.

use alloc::ffi::CString;

use crate::raw_syscalls::Fault;
use crate::window_start::WindowStart;

/// What a call gets to prepare itself.
pub struct CallSetup {
    /// Operations in each window.
    pub batch: u32,
    /// When each window begins.
    pub window_start: WindowStart,
    /// The path of the program that ends at once.
    pub noop: CString,
}

/// A measured system call, or a few that belong together.
///
/// It runs as an ordinary user in an empty working directory of its own. Each operation leaves
/// things as it found them. The process need not remove what it made.
pub trait Call: Sized {
    /// Makes what the operation needs. Not timed.
    fn prepare(setup: &CallSetup) -> Result<Self, Fault>;

    /// Done before the wait for each window. Not timed.
    fn before(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    /// The timed operation. It makes system calls and does next to nothing else.
    fn operate(&mut self) -> Result<(), Fault>;

    /// Done after each window. Not timed.
    fn after(&mut self) -> Result<(), Fault> {
        Ok(())
    }
}
