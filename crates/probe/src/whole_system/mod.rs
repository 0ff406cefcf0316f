//! Programs, services and mounts of a whole system, as requests ask for them.
//!
//! Nothing here may know a program or service by name: the request has all that is needed.
//!
//! `run_program`, `service_requests` and `mount` are the requests. `program_process` starts a
//! program as a user. `service` is one service, `service_list` are all of a session. `service_log`
//! keeps the end of what a service prints; `log_tails` reads the end of any log, to explain a
//! failure. `readiness_check` finds out whether a service answers. `background` is what is served
//! while the probe waits, `watchdog` ends the job if the probe hangs.

mod accounts;
mod background;
mod log_tails;
mod mount;
mod program_process;
mod readiness_check;
mod run_program;
mod service;
mod service_list;
mod service_log;
mod service_requests;
mod watchdog;

pub use self::accounts::{group_id, user_id};
pub use self::background::Background;
pub use self::log_tails::tail;
pub use self::mount::mount;
pub use self::run_program::run;
pub use self::service_list::ServiceList;
pub use self::service_requests::{start, stop, until};
pub use self::watchdog::Watchdog;
