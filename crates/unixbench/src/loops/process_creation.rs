//! Processes that are started, end at once, and are waited for.

use crate::fault::Result;
use crate::process;
use crate::test_loop::TestLoop;

/// Starts a process in each loop; `Child::wait` checks that it ended with status 0.
pub struct ProcessCreation;

impl TestLoop for ProcessCreation {
    fn once(&mut self) -> Result<()> {
        process::fork(|| 0)?.wait()
    }

    fn finish(self, _loops: u64) -> Result<()> {
        Ok(())
    }
}
