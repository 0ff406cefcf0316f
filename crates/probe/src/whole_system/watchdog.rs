//! Someone who is awake when the probe itself hangs.
//!
//! A service that decides who may open what (by fanotify) holds up all others while it hangs, process
//! 1 included, which nothing can kill. So a thread of its own waits beside each request of a guest
//! that has services. It opens no file but under `/run` and `/proc`, and ends the job where the
//! request is not over long after its limit.

use std::fs;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::logs::{self, Logs};
use crate::farewell;

/// How long a request may take longer than its limit: it may have to kill, and to ask services.
const GRACE: Duration = Duration::from_secs(30);
/// How long a request without a limit may take.
const LIMIT: Duration = Duration::from_secs(60);
/// How long it may take to collect the logs after a failure.
const LOGS: Duration = Duration::from_secs(10);

/// What the thread is to know.
#[derive(Default)]
struct State {
    /// When to end the job; `None`: nothing is under way.
    end: Option<Instant>,
    request: usize,
    /// Why the request has failed already.
    message: Option<String>,
    /// Names and processes of services.
    services: Vec<(String, i32)>,
}

/// The guard; its thread goes on as long as the probe.
#[derive(Default)]
pub struct Guard {
    shared: Option<Arc<(Mutex<State>, Condvar)>>,
}

impl Guard {
    /// Watches over a request of so many seconds, or of unknown length.
    pub fn watch(&mut self, request: usize, limit: Option<f64>, services: Vec<(String, i32)>) {
        let limit = limit.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let end = Instant::now().checked_add(limit.unwrap_or(LIMIT).saturating_add(GRACE));
        self.set(State { end, request, message: None, services });
    }

    /// Watches over the collecting of logs, which is not to cost us the reason of a failure.
    pub fn watch_logs(&self, request: usize, message: &str) {
        if self.shared.is_some() {
            let (end, message) = (Instant::now().checked_add(LOGS), Some(message.to_owned()));
            self.tell(State { end, request, message, services: Vec::new() });
        }
    }

    /// Goes to rest.
    pub fn rest(&self) {
        self.tell(State::default());
    }

    fn set(&mut self, state: State) {
        if self.shared.is_none() {
            let shared = Arc::new((Mutex::default(), Condvar::new()));
            self.shared = Some(Arc::clone(&shared));
            thread::spawn(move || stand(&shared));
        }
        self.tell(state);
    }

    fn tell(&self, state: State) {
        if let Some(shared) = &self.shared {
            *lock(&shared.0) = state;
            shared.1.notify_all();
        }
    }
}

/// Waits until something has to be ended.
fn stand((state, changed): &(Mutex<State>, Condvar)) {
    let mut state = lock(state);
    loop {
        let left = state.end.map(|end| end.saturating_duration_since(Instant::now()));
        state = match left {
            None => changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            Some(Duration::ZERO) => {
                farewell::give_up(state.request, reason(&state), printed());
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

/// Why the job is ended.
fn reason(state: &State) -> String {
    if let Some(message) = &state.message {
        return message.clone();
    }
    let still = state.services.iter().filter(|&&(_, pid)| stands_still(pid));
    let still: Vec<_> = still.map(|(name, _)| format!("; the service {name} is stopped")).collect();
    format!("the probe itself hangs, as if a service did not let it open a file{}", still.concat())
}

/// Whether a process was stopped by a signal.
fn stands_still(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().next());
    matches!(state, Some("T" | "t"))
}

/// What services have printed.
fn printed() -> Logs {
    let mut found = Logs::new();
    for entry in fs::read_dir(super::services::FOLDER).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|kind| kind == "log") {
            logs::add(&mut found, &path.to_string_lossy());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use rustix::process::{Pid, Signal, kill_process};

    use super::{Guard, State, reason, stands_still};

    #[test]
    fn what_was_said_already_is_the_reason_and_else_who_stands_still() {
        let state = State { message: Some("no room".into()), ..State::default() };
        assert_eq!(reason(&state), "no room");
        let mut nap = Command::new("sleep").arg("60").spawn().expect("starts");
        let pid = Pid::from_child(&nap).as_raw_nonzero().get();
        assert!(!stands_still(pid));
        kill_process(Pid::from_child(&nap), Signal::STOP).expect("stopped");
        while !stands_still(pid) {}
        let services = vec![("web".into(), pid), ("gone".into(), i32::MAX)];
        let text = reason(&State { services, ..State::default() });
        assert!(text.ends_with("open a file; the service web is stopped"), "{text}");
        nap.kill().and_then(|()| nap.wait()).expect("killed");
    }

    #[test]
    fn a_guard_that_was_never_called_has_no_thread() {
        let guard = Guard::default();
        guard.rest();
        guard.watch_logs(0, "");
        assert!(guard.shared.is_none());
    }
}
