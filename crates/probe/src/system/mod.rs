//! What is asked of the probe in a whole system: programs, services, mounts.
//!
//! Nothing here knows any program or service by name: the request says all that there is to know.

mod accounts;
mod company;
mod guard;
mod logs;
mod mounts;
mod program;
mod ready;
mod run;
mod service;
mod services;
mod since;
mod starting;

pub use self::accounts::{group_id, user_id};
pub use self::company::Company;
pub use self::guard::Guard;
pub use self::logs::tail;
pub use self::mounts::mount;
pub use self::run::run;
pub use self::services::Services;
pub use self::since::Since;
pub use self::starting::{start, stop, until};
