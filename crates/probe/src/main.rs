//! The part of hardcost that runs inside the machine being measured.
//!
//! As process 1 of a guest it brings the system up, reads its job from the emulator and measures;
//! `serve` does the same over standard input and output, on any Linux machine.
//! [`protocol`] defines the language it speaks.

// The standard library's own start-up would open /dev/null where a standard stream is closed, as
// they all may be in process 1, before there is one. So the C library calls `main` below directly.
#![cfg_attr(not(test), no_main)]
// A test has nothing to look after while it waits.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

mod alarm;
mod ascii;
mod aside;
mod audit;
mod bootline;
mod capture;
mod child;
mod clock;
mod command;
mod companions;
mod counters;
mod cputime;
mod entropy;
mod error;
mod farewell;
mod files;
mod fw_cfg;
mod guest;
mod line;
mod measure;
mod measured;
mod out;
mod outputs;
mod perturb;
mod place;
mod ports;
mod process;
mod processors;
mod protocol;
mod root;
mod selinux;
mod session;
mod spinner;
mod standstill;
mod system;
mod systemd;
mod tally;
mod ticks;
mod tree;
mod wait;
mod watch;

use std::ffi::c_int;
use std::io::{self, BufRead};

use hardcost_measured::NAMES;

use error::Error;
use place::Place;
use processors::Processors;
use protocol::{Listing, PROTOCOL_VERSION};
use session::Session;

const USAGE: &str = "usage: hardcost-probe serve [SECONDS [PROCESSOR]] | list\n\n\
    serve  read requests from standard input and answer on standard output;\n\
    \u{20}      fail after so many seconds (default: half a day); measure on that processor\n\
    list   print the calls that can be measured\n";

/// What the C library calls; the process's exit status is what comes back.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn main() -> c_int {
    run(std::env::args().nth(1).as_deref())
}

/// Does what the first argument says and returns the exit status.
fn run(verb: Option<&str>) -> c_int {
    match verb {
        Some("serve") => serve(std::env::args().nth(2), std::env::args().nth(3)),
        Some("list") => list(),
        Some(systemd::VERB) if std::process::id() != 1 => guest::run_as_service(),
        // The kernel gives its init the words of the boot line that it did not understand.
        _ if std::process::id() == 1 => guest::run(),
        _ => misused(),
    }
}

/// Says how the probe is used.
#[expect(clippy::disallowed_macros, reason = "its user is at a terminal")]
fn misused() -> c_int {
    eprint!("{USAGE}");
    2
}

/// Says what keeps the probe from beginning.
#[expect(clippy::disallowed_macros, reason = "there is no session yet")]
fn failed(error: &Error) -> c_int {
    eprintln!("hardcost-probe: {error}");
    1
}

/// Answers requests from standard input until it ends, within so many seconds, on that processor if
/// one is named: 0 if all were done, 1 if one failed.
#[expect(clippy::disallowed_methods, reason = "this is where its answers go")]
fn serve(seconds: Option<String>, processor: Option<String>) -> c_int {
    let seconds = seconds.map_or(Some(alarm::HALF_A_DAY), |word| word.parse().ok());
    let Some(seconds) = seconds.filter(|&seconds| seconds > 0) else { return misused() };
    let Ok(processor) = processor.map(|word| word.parse()).transpose() else { return misused() };
    let processors = match processor.map(Processors::hold).transpose() {
        Ok(processors) => processors.unwrap_or_default(),
        Err(error) => return failed(&error),
    };
    let lines = io::stdin().lock().split(b'\n');
    let session = Session::new(Place::Host, Box::new(io::stdout()));
    let mut session = session.within(seconds).on(processors);
    let done = session.hello(None).and_then(|()| session.run(lines));
    c_int::from(!done.unwrap_or(false))
}

/// Prints what can be measured.
#[expect(clippy::disallowed_methods, reason = "its user is at a terminal")]
fn list() -> c_int {
    let listing = Listing { protocol: PROTOCOL_VERSION, calls: NAMES.to_vec() };
    c_int::from(ascii::write_line(&mut io::stdout(), &listing).is_err())
}
