//! Programs, services and mounts of a whole system, as requests ask for them.
//!
//! Nothing here may know a program or service by name: the request has all that is needed. The
//! defaults of a request are in `protocol/requests.rs`.
//!
//! - `run_program.rs`: the request to run a program to its end, and what of its end is a failure
//! - `service_requests.rs`: the requests to start and stop a service and to wait for a condition;
//!   how long killing and answering may take
//! - `mount.rs`: the request to mount with options
//! - `program_process.rs`: starts a program as a user; `accounts.rs`: finds users and groups
//! - `service.rs`: one service, and how it ended; `service_list.rs`: all of a session, their folder
//! - `service_log.rs`: the end of a service's output: how much is kept, and when it is shortened
//! - `log_tails.rs`: the end of any log, to explain a failure: how much is reported
//! - `readiness_check.rs`: whether a service answers, and the pauses between attempts
//! - `background.rs`: what is served while the probe waits
//! - `watchdog.rs`: ends the job if the probe hangs: how long after a request's limit

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
