//! One service: its process, and how it ended.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use rustix::process::{Pid, WaitOptions, waitpid};

use crate::whole_system::log_tails::{self, LogTails};
use crate::whole_system::readiness_check::ReadinessCheck;
use crate::whole_system::service_log::ServiceLog;

/// A service that was started.
pub struct Service {
    /// What it is called.
    pub name: String,
    /// Its main process; at first the one that was started.
    pub pid: Pid,
    /// Readable once that process has ended.
    pub ended: OwnedFd,
    /// How to check that it answers.
    pub ready: ReadinessCheck,
    /// Whether its end is no failure, because it is being started or stopped.
    pub may_end: bool,
    /// How it ended, if known.
    pub status: Option<ExitStatus>,
    /// What it prints.
    pub log: ServiceLog,
    /// Further files that explain a failure.
    pub logs: Vec<String>,
}

impl Service {
    /// The descriptors to wait for.
    pub fn sources(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let end = (!self.may_end).then_some(self.ended.as_fd());
        end.into_iter().chain(self.log.source())
    }

    /// Reads what it has printed; does not wait.
    pub fn take(&mut self) {
        self.log.take();
    }

    /// Checks whether it has ended, and reaps it if it is a child of the probe.
    pub fn reap(&mut self) {
        if let Ok(Some((_, status))) = waitpid(Some(self.pid), WaitOptions::NOHANG) {
            self.status = Some(ExitStatus::from_raw(status.as_raw()));
        }
    }

    /// The ends of its logs.
    pub fn logs(&mut self) -> LogTails {
        self.take();
        let mut found = LogTails::new();
        log_tails::add(&mut found, &self.log.path);
        for path in &self.logs {
            log_tails::add(&mut found, path);
        }
        found
    }
}

/// In words, how a process ended.
pub fn how(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("status {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "an unknown status".into(),
    }
}
