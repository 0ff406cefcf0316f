//! The probe: the part of hardcost that runs inside the machine being measured.
//!
//! As process 1 of a guest it brings the system up, gets its job from QEMU, and measures. `serve`
//! does the same over standard input and output on any Linux machine. [`protocol`] defines requests
//! and answers. The probe plans, stores and explains nothing.
//!
//! - `session.rs`: does the requests of a job in their order, and checks services around each
//! - `protocol/`: the form of requests and answers, and the defaults of requests
//! - `measure/`: the requests to measure; the loop of a window is in `crates/measured`
//! - `whole_system/`: the requests for programs, services, mounts and waiting
//! - `file_requests.rs`: the requests that make, write and read files and settings
//! - `log_counts/`: the requests that count in logs
//! - `audit/`: the audit daemon and loading rules; `recorders/`: what observes beside the requests
//! - `guest/`: process 1 of a guest, from boot to its end
//! - `processes/`: programs as children, their outputs, all waiting, the job's time limit
//! - `machine.rs`: what differs between a guest and another machine: when windows begin, the
//!   program for `exec`
//! - `answer_stream.rs`: writes answers; `error.rs`: reasons of failures, and their logs
//! - `clock.rs`: the protocol's names of the clocks, which are in `crates/measured`

// The standard library's own start-up would open /dev/null where a standard stream is closed, as
// they all may be in process 1, before there is one. So the C library calls `main` below directly.
#![cfg_attr(not(test), no_main)]
// A test has nothing to look after while it waits.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

mod answer_stream;
mod audit;
mod clock;
mod error;
mod file_requests;
mod guest;
mod log_counts;
mod machine;
mod measure;
mod processes;
mod protocol;
mod recorders;
mod session;
mod whole_system;

use std::ffi::c_int;
use std::io::{self, BufRead};

use hardcost_measured::NAMES;

use error::Error;
use guest::{init, systemd};
use machine::Machine;
use measure::cpu_affinity::Processors;
use processes::job_timeout;
use protocol::{Listing, PROTOCOL_VERSION, ascii_json};
use session::Session;

const USAGE: &str = "usage: hardcost-probe serve [SECONDS [PROCESSOR]] | list\n\n\
    serve  read requests from standard input and answer on standard output;\n\
    \u{20}      fail after so many seconds (default: half a day); measure on that processor\n\
    list   print the calls that can be measured\n";

/// Called by the C library; the return value is the exit status.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn main() -> c_int {
    run(std::env::args().nth(1).as_deref())
}

/// Runs the verb that is the first argument, and returns the exit status.
fn run(verb: Option<&str>) -> c_int {
    match verb {
        Some("serve") => serve(std::env::args().nth(2), std::env::args().nth(3)),
        Some("list") => list(),
        Some(systemd::VERB) if std::process::id() != 1 => init::run_as_service(),
        // The kernel passes its init the boot parameters that it does not know.
        _ if std::process::id() == 1 => init::run(),
        _ => misused(),
    }
}

/// Prints the usage.
#[expect(clippy::disallowed_macros, reason = "its user is at a terminal")]
fn misused() -> c_int {
    eprint!("{USAGE}");
    2
}

/// Prints why the probe can't start.
#[expect(clippy::disallowed_macros, reason = "there is no session yet")]
fn failed(error: &Error) -> c_int {
    eprintln!("hardcost-probe: {error}");
    1
}

/// Answers requests from standard input until it ends, within so many seconds, on that processor if
/// one is named. 0: all were done, 1: one failed.
#[expect(clippy::disallowed_methods, reason = "this is where its answers go")]
fn serve(seconds: Option<String>, processor: Option<String>) -> c_int {
    let seconds = seconds.map_or(Some(job_timeout::HALF_A_DAY), |word| word.parse().ok());
    let Some(seconds) = seconds.filter(|&seconds| seconds > 0) else { return misused() };
    let Ok(processor) = processor.map(|word| word.parse()).transpose() else { return misused() };
    let processors = match processor.map(Processors::pin).transpose() {
        Ok(processors) => processors.unwrap_or_default(),
        Err(error) => return failed(&error),
    };
    let lines = io::stdin().lock().split(b'\n');
    let session = Session::new(Machine::Host, Box::new(io::stdout()));
    let mut session = session.within(seconds).on(processors);
    let done = session.hello(None).and_then(|()| session.run(lines));
    c_int::from(!done.unwrap_or(false))
}

/// Prints the calls that can be measured.
#[expect(clippy::disallowed_methods, reason = "its user is at a terminal")]
fn list() -> c_int {
    let listing = Listing { protocol: PROTOCOL_VERSION, calls: NAMES.to_vec() };
    c_int::from(ascii_json::write_line(&mut io::stdout(), &listing).is_err())
}
