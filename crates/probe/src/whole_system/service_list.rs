//! The list of a session's services, and their common folder.

use std::fs;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{WaitOptions, getpid, set_child_subreaper, wait};

use crate::error::{Context, Error, Result};
use crate::machine::Machine;
use crate::processes::process_tree;
use crate::whole_system::log_tails::LogTails;
use crate::whole_system::service::{self, Service};

/// The folder of services' files in a guest.
pub const FOLDER: &str = "/run/hardcost";

/// The services of a session.
pub struct ServiceList {
    machine: Machine,
    folder: PathBuf,
    is_prepared: bool,
    /// All of them, in the order in which they were started.
    pub all: Vec<Service>,
}

impl ServiceList {
    /// No services yet.
    pub fn new(machine: Machine) -> Self {
        let folder = match machine {
            Machine::Guest => FOLDER.into(),
            Machine::Host => std::env::temp_dir().join(format!("hardcost.{}", std::process::id())),
        };
        Self { machine, folder, is_prepared: false, all: Vec::new() }
    }

    /// The path of a program's or service's file of that kind.
    pub fn path(&mut self, name: &str, kind: &str) -> Result<String> {
        if name.is_empty() || name.starts_with('.') || name.contains(['/', '\0']) {
            return Err(Error::Other(format!("{name:?} is no name")));
        }
        self.prepare()?;
        Ok(self.folder.join(format!("{name}.{kind}")).to_string_lossy().into_owned())
    }

    fn prepare(&mut self) -> Result<()> {
        if !self.is_prepared {
            let made = match self.machine {
                Machine::Guest => fs::create_dir_all(&self.folder),
                // An existing one may be a trap of another user.
                Machine::Host => fs::create_dir(&self.folder),
            };
            made.context(|| self.folder.display().to_string())?;
            // As for process 1: orphans become children of the probe, so that their ends can be
            // reported.
            set_child_subreaper(Some(getpid())).context(|| "adopting orphans".into())?;
            self.is_prepared = true;
        }
        Ok(())
    }

    /// The descriptors to wait for.
    pub fn sources(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.all.iter().flat_map(Service::sources)
    }

    /// Reads what they have printed; does not wait.
    pub fn take(&mut self) {
        self.all.iter_mut().for_each(Service::take);
    }

    /// Checks that all are alive.
    #[expect(clippy::disallowed_methods, reason = "it only looks")]
    pub fn check(&mut self) -> Result<()> {
        let watched = self.all.iter_mut().filter(|service| !service.may_end);
        let mut watched: Vec<_> = watched.collect();
        if watched.is_empty() {
            return Ok(());
        }
        let ends = watched.iter().map(|service| service.ended.as_fd());
        let mut ends: Vec<_> = ends.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
        match poll(&mut ends, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) {
            // A signal came first; a service that has ended by then is seen the next time.
            Ok(_) | Err(Errno::INTR) => {}
            failed @ Err(_) => drop(failed.context(|| "looking after services".into())?),
        }
        let died = ends.iter().position(|end| !end.revents().is_empty());
        drop(ends);
        match died {
            Some(index) => Err(died_early(watched.remove(index))),
            None => Ok(()),
        }
    }

    /// The ends of all logs.
    pub fn logs(&mut self) -> LogTails {
        self.all.iter_mut().flat_map(Service::logs).collect()
    }

    /// Reaps orphans.
    pub fn reap_orphans(&mut self) {
        if self.machine == Machine::Host && !self.is_prepared {
            return;
        }
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            let ours = self.all.iter_mut().find(|service| service.pid == pid);
            if let Some(service) = ours {
                service.status = Some(ExitStatus::from_raw(status.as_raw()));
            }
        }
    }

    /// Ends the services that were not stopped. A guest ends as a whole.
    pub fn end(&mut self) {
        if self.machine == Machine::Host && self.is_prepared {
            // The process id of a reaped one may belong to another process by now.
            let alive = self.all.iter().rev().filter(|service| service.status.is_none());
            alive.for_each(|service| process_tree::kill(service.pid));
            let _ = fs::remove_dir_all(&self.folder);
        }
    }

    /// Names and process ids of the services.
    pub fn list(&self) -> Vec<(String, i32)> {
        let all = self.all.iter();
        all.map(|service| (service.name.clone(), service.pid.as_raw_nonzero().get())).collect()
    }

    /// The service of that name.
    pub fn find(&mut self, name: &str) -> Option<&mut Service> {
        self.all.iter_mut().find(|service| service.name == name)
    }
}

/// The error of a service that ended and should not have.
pub fn died_early(service: &mut Service) -> Error {
    service.may_end = true;
    service.reap();
    let how =
        service.status.map_or_else(String::new, |status| format!(": {}", service::how(status)));
    let message = format!("the service {} died{how}", service.name);
    Error::Explained { message, logs: service.logs() }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::ServiceList;
    use crate::machine::Machine;

    #[test]
    fn a_folder_that_another_user_made_is_not_used() {
        let mut services = ServiceList::new(Machine::Host);
        let own = tempfile::tempdir().expect("room");
        services.folder = own.path().join("trap");
        fs::create_dir(&services.folder).expect("room");
        let error = services.path("web", "log").expect_err("it is there").to_string();
        assert!(error.contains("File exists"), "{error}");
        services.end();
        fs::remove_dir(&services.folder).expect("left alone");
        services.path("web", "log").expect("made");
        services.end();
        assert!(!services.folder.exists());
        assert!(services.path("../web", "log").is_err());
    }
}
