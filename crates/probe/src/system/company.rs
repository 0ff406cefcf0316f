//! All that goes on beside what is waited for: records come to the audit daemon, services print or
//! die.

use std::os::fd::{AsFd, BorrowedFd};

use super::services::Services;
use crate::audit::Audit;
use crate::error::Result;
use crate::perturb::Perturbation;
use crate::spinner::Spinner;
use crate::wait::{Beside, Deadline, Wanted, wait};

/// The probe's duties while it waits.
pub struct Company<'a> {
    /// The audit daemon.
    pub audit: Option<&'a mut Audit>,
    /// The services.
    pub services: &'a mut Services,
    /// What is changed that means nothing.
    pub perturbation: Perturbation,
    /// What keeps the processor busy and is halted while something is measured.
    pub spinner: Option<&'a Spinner>,
}

impl Company<'_> {
    /// Waits until one of `wanted` is ready, and says which are; none: it is over.
    pub fn wait(&mut self, wanted: &[Wanted<'_>], deadline: Deadline) -> Result<Vec<bool>> {
        wait(wanted, self, deadline)
    }
}

impl Beside for Company<'_> {
    fn sources(&self) -> Vec<BorrowedFd<'_>> {
        self.services.sources().chain(self.audit.as_deref().map(AsFd::as_fd)).collect()
    }

    fn take(&mut self) -> Result<()> {
        self.services.take();
        self.audit.iter_mut().try_for_each(|audit| audit.take())?;
        self.services.check()
    }
}
