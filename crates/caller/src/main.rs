//! Makes one of the measured calls once, for a trace of it.
//!
//! It first makes the call a few times, so that what it needs is in the kernel's caches, and waits
//! until the records of these are delivered. Then it reads the clock, makes the call and reads the
//! clock again; by these readings a trace finds the call. At the end it yields to other processes
//! for some time, so that the record is delivered while this process exists. It never sleeps,
//! because the processor must not be idle.

use std::env;
use std::ffi::CString;
use std::process::ExitCode;
use std::thread::yield_now;

use hardcost_measured::call::CallSetup;
use hardcost_measured::calls;
use hardcost_measured::channel::{Failure, Plan};
use hardcost_measured::clock::ClockName;
use hardcost_measured::named_call::Handshake;
use hardcost_measured::window_start::{WindowStart, monotonic};

const USAGE: &str = "usage: hardcost-caller CALL MILLISECONDS NOOP";
/// How often the call is made before the traced one.
const WARMUP: u32 = 4;
/// Milliseconds between these calls, and before the traced one.
const APART: u32 = 20;
const NANOSECONDS: u64 = 1_000_000;

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    match make(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("hardcost-caller: {reason}");
            ExitCode::from(2)
        }
    }
}

/// Makes the call that the words name.
fn make(words: &[String]) -> Result<(), String> {
    let [name, milliseconds, noop] = words else { return Err(USAGE.into()) };
    let call = calls::find(name).ok_or_else(|| format!("no call is named {name:?}"))?;
    let milliseconds: u64 = milliseconds.parse().map_err(|_| USAGE)?;
    let noop = CString::new(noop.as_str()).map_err(|_| USAGE)?;
    let plan = Plan { name: name.clone(), batch: 1, samples: 1, warmup: WARMUP, apart: APART };
    let setup = CallSetup { batch: 1, window_start: WindowStart::AfterTick { later: 0 }, noop };
    let mut afterwards = YieldAfterwards { nanoseconds: milliseconds * NANOSECONDS };
    let made = call.run(ClockName::Tsc, &plan, &setup, &mut afterwards);
    made.map(drop).map_err(|failure| match failure.errno {
        Some(number) => format!("{}: error {number}", failure.what),
        None => failure.what,
    })
}

/// Yields to other processes for some time after the call.
struct YieldAfterwards {
    nanoseconds: u64,
}

impl Handshake for YieldAfterwards {
    fn begin(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Failure> {
        let end = monotonic() + self.nanoseconds;
        while monotonic() < end {
            yield_now();
        }
        Ok(())
    }
}
