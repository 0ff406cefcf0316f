//! The session's background: what needs attention while the probe waits for something else.
//!
//! Records arrive for the audit daemon, and services print or die.

use std::os::fd::{AsFd, BorrowedFd};

use crate::audit::AuditDaemon;
use crate::error::Result;
use crate::guest::busy_loop::BusyLoop;
use crate::guest::parallel::session::Parallel;
use crate::measure::perturbation::Perturbation;
use crate::processes::wait::{BackgroundSource, Deadline, PollTarget, wait};
use crate::whole_system::service_list::ServiceList;

/// The background of a session.
pub struct Background<'a> {
    /// The audit daemon.
    pub audit: Option<&'a mut AuditDaemon>,
    /// The services.
    pub services: &'a mut ServiceList,
    /// The perturbation in force.
    pub perturbation: Perturbation,
    /// The process that keeps the processor busy; paused while something is measured.
    pub busy_loop: Option<&'a BusyLoop>,
    /// Several processors with a clock of their own.
    pub parallel: Option<&'a Parallel>,
}

impl Background<'_> {
    /// Waits until one of `targets` is ready, and returns which are; none: the deadline is over.
    pub fn wait(&mut self, targets: &[PollTarget<'_>], deadline: Deadline) -> Result<Vec<bool>> {
        wait(targets, self, deadline)
    }
}

impl BackgroundSource for Background<'_> {
    fn sources(&self) -> Vec<BorrowedFd<'_>> {
        self.services.sources().chain(self.audit.as_deref().map(AsFd::as_fd)).collect()
    }

    fn take(&mut self) -> Result<()> {
        self.services.take();
        self.audit.iter_mut().try_for_each(|audit| audit.take())?;
        self.services.check()
    }
}
