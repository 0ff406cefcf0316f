//! The services of a session.

use std::fs;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{WaitOptions, getpid, set_child_subreaper, wait};

use super::logs::Logs;
use super::service::{self, Service};
use crate::error::{Context, Error, Result};
use crate::place::Place;
use crate::tree;

/// Where a guest keeps what services print.
pub const FOLDER: &str = "/run/hardcost";

/// The services of a session.
pub struct Services {
    place: Place,
    folder: PathBuf,
    is_prepared: bool,
    /// All of them, in the order in which they were started.
    pub all: Vec<Service>,
}

impl Services {
    /// No services yet.
    pub fn new(place: Place) -> Self {
        let folder = match place {
            Place::Guest => FOLDER.into(),
            Place::Host => std::env::temp_dir().join(format!("hardcost.{}", std::process::id())),
        };
        Self { place, folder, is_prepared: false, all: Vec::new() }
    }

    /// The file of that kind that belongs to a program or service of that name.
    pub fn path(&mut self, name: &str, kind: &str) -> Result<String> {
        if name.is_empty() || name.starts_with('.') || name.contains(['/', '\0']) {
            return Err(Error::Other(format!("{name:?} is no name")));
        }
        self.prepare()?;
        Ok(self.folder.join(format!("{name}.{kind}")).to_string_lossy().into_owned())
    }

    fn prepare(&mut self) -> Result<()> {
        if !self.is_prepared {
            let made = match self.place {
                Place::Guest => fs::create_dir_all(&self.folder),
                // One that is there already may be somebody's trap.
                Place::Host => fs::create_dir(&self.folder),
            };
            made.context(|| self.folder.display().to_string())?;
            // As for process 1: what loses its parent becomes ours, so that its end can be reported.
            set_child_subreaper(Some(getpid())).context(|| "adopting orphans".into())?;
            self.is_prepared = true;
        }
        Ok(())
    }

    /// What to wait for on their behalf.
    pub fn sources(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.all.iter().flat_map(Service::sources)
    }

    /// Takes what they have printed; does not wait.
    pub fn take(&mut self) {
        self.all.iter_mut().for_each(Service::take);
    }

    /// Makes sure that all are alive.
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
            // A signal came first; whoever has ended by then is seen the next time.
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
    pub fn logs(&mut self) -> Logs {
        self.all.iter_mut().flat_map(Service::logs).collect()
    }

    /// Takes leave of processes that outlived the one that started them.
    pub fn reap_orphans(&mut self) {
        if self.place == Place::Host && !self.is_prepared {
            return;
        }
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            let ours = self.all.iter_mut().find(|service| service.pid == pid);
            if let Some(service) = ours {
                service.status = Some(ExitStatus::from_raw(status.as_raw()));
            }
        }
    }

    /// Ends what was not stopped. A guest ends as a whole.
    pub fn end(&mut self) {
        if self.place == Place::Host && self.is_prepared {
            // The number of one that was reaped may be another's by now.
            let alive = self.all.iter().rev().filter(|service| service.status.is_none());
            alive.for_each(|service| tree::kill(service.pid));
            let _ = fs::remove_dir_all(&self.folder);
        }
    }

    /// Names and processes of those that were started, where the guest has any.
    pub fn list(&self) -> Vec<(String, i32)> {
        let all = self.all.iter();
        all.map(|service| (service.name.clone(), service.pid.as_raw_nonzero().get())).collect()
    }

    /// The one of that name.
    pub fn find(&mut self, name: &str) -> Option<&mut Service> {
        self.all.iter_mut().find(|service| service.name == name)
    }
}

/// Tells of a service that has ended and should not have.
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

    use super::Services;
    use crate::place::Place;

    #[test]
    fn a_folder_that_somebody_else_made_is_not_used() {
        let mut services = Services::new(Place::Host);
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
