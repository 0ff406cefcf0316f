//! The watchdog: a thread that ends the job if the probe itself hangs.
//!
//! A service that decides by fanotify which files may be opened blocks all processes while it
//! hangs. That includes process 1, which nothing can kill. So this thread waits beside each request
//! in a guest with services, and ends the job if the request takes far longer than its limit. It
//! may open no file except under `/run` and `/proc`.

use std::fs;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::guest::shutdown;
use crate::whole_system::log_tails::{self, LogTails};

/// How much longer than its limit a request may take: it may have to kill processes, and to check
/// services.
const GRACE: Duration = Duration::from_secs(30);
/// How long a request without a limit may take.
const LIMIT: Duration = Duration::from_secs(60);
/// How long collecting the logs after a failure may take.
const LOGS: Duration = Duration::from_secs(10);

/// What the thread needs to know.
#[derive(Default)]
struct State {
    /// When to end the job; `None`: no request runs.
    end: Option<Instant>,
    request: usize,
    /// Why the request has already failed.
    message: Option<String>,
    /// Names and process ids of services.
    services: Vec<(String, i32)>,
}

/// The watchdog. Its thread runs as long as the probe.
#[derive(Default)]
pub struct Watchdog {
    shared: Option<Arc<(Mutex<State>, Condvar)>>,
}

impl Watchdog {
    /// Watches a request with a limit in seconds, or without one.
    pub fn arm(&mut self, request: usize, limit: Option<f64>, services: Vec<(String, i32)>) {
        let limit = limit.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let end = Instant::now().checked_add(limit.unwrap_or(LIMIT).saturating_add(GRACE));
        self.set(State { end, request, message: None, services });
    }

    /// Watches the collecting of logs, so that a hang there does not lose the reason of a failure.
    pub fn arm_for_logs(&self, request: usize, message: &str) {
        if self.shared.is_some() {
            let (end, message) = (Instant::now().checked_add(LOGS), Some(message.to_owned()));
            self.notify(State { end, request, message, services: Vec::new() });
        }
    }

    /// Stops watching.
    pub fn disarm(&self) {
        self.notify(State::default());
    }

    fn set(&mut self, state: State) {
        if self.shared.is_none() {
            let shared = Arc::new((Mutex::default(), Condvar::new()));
            self.shared = Some(Arc::clone(&shared));
            thread::spawn(move || run(&shared));
        }
        self.notify(state);
    }

    fn notify(&self, state: State) {
        if let Some(shared) = &self.shared {
            *lock(&shared.0) = state;
            shared.1.notify_all();
        }
    }
}

/// Waits until the job has to be ended.
fn run((state, changed): &(Mutex<State>, Condvar)) {
    let mut state = lock(state);
    loop {
        let left = state.end.map(|end| end.saturating_duration_since(Instant::now()));
        state = match left {
            None => changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            Some(Duration::ZERO) => {
                shutdown::abort_job(state.request, reason(&state), printed());
            }
            Some(left) => {
                changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0
            }
        };
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The reason for ending the job.
fn reason(state: &State) -> String {
    if let Some(message) = &state.message {
        return message.clone();
    }
    let stopped = state.services.iter().filter(|&&(_, pid)| is_stopped(pid));
    let stopped: Vec<_> =
        stopped.map(|(name, _)| format!("; the service {name} is stopped")).collect();
    format!(
        "the probe itself hangs, as if a service did not let it open a file{}",
        stopped.concat()
    )
}

/// Whether a process was stopped by a signal.
fn is_stopped(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().next());
    matches!(state, Some("T" | "t"))
}

/// The services' logs.
fn printed() -> LogTails {
    let mut found = LogTails::new();
    for entry in
        fs::read_dir(crate::whole_system::service_list::FOLDER).into_iter().flatten().flatten()
    {
        let path = entry.path();
        if path.extension().is_some_and(|kind| kind == "log") {
            log_tails::add(&mut found, &path.to_string_lossy());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use rustix::process::{Pid, Signal, kill_process};

    use super::{Duration, GRACE, Instant, State, Watchdog, is_stopped, lock, reason};

    #[test]
    fn a_request_has_time_beyond_its_limit_to_end_by_itself() {
        let mut watchdog = Watchdog::default();
        watchdog.arm(0, Some(5.0), Vec::new());
        let shared = watchdog.shared.as_ref().expect("it watches");
        let end = lock(&shared.0).end.expect("there is a limit");
        assert!(end > Instant::now() + Duration::from_secs(5) + GRACE / 2);
        watchdog.disarm();
    }

    #[test]
    fn what_was_said_already_is_the_reason_and_else_who_stands_still() {
        let state = State { message: Some("no room".into()), ..State::default() };
        assert_eq!(reason(&state), "no room");
        let mut nap = Command::new("sleep").arg("60").spawn().expect("starts");
        let pid = Pid::from_child(&nap).as_raw_nonzero().get();
        assert!(!is_stopped(pid));
        kill_process(Pid::from_child(&nap), Signal::STOP).expect("stopped");
        while !is_stopped(pid) {}
        let services = vec![("web".into(), pid), ("gone".into(), i32::MAX)];
        let text = reason(&State { services, ..State::default() });
        assert!(text.ends_with("open a file; the service web is stopped"), "{text}");
        nap.kill().and_then(|()| nap.wait()).expect("killed");
    }

    #[test]
    fn a_guard_that_was_never_called_has_no_thread() {
        let watchdog = Watchdog::default();
        watchdog.disarm();
        watchdog.arm_for_logs(0, "");
        assert!(watchdog.shared.is_none());
    }
}
