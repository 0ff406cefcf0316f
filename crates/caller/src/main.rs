//! Makes one of the calls that can be measured, for a trace of it.
//!
//! It makes the call some times before, so that what it needs is in the kernel's caches, and waits
//! until the records of that have gone. Then it reads the clock, makes the call and reads the clock
//! again: by these readings a trace knows the call. At last it lets others run for some time, so
//! that the record comes to its end while this process is there; it does not sleep, since the
//! processor is never to be idle.

use std::env;
use std::ffi::CString;
use std::process::ExitCode;
use std::thread::yield_now;

use hardcost_measured::call::Setup;
use hardcost_measured::calls;
use hardcost_measured::channel::{Failure, Plan};
use hardcost_measured::clock::ClockName;
use hardcost_measured::entry::Handshake;
use hardcost_measured::pace::{Pace, monotonic};

const USAGE: &str = "usage: hardcost-caller CALL MILLISECONDS NOOP";
/// How often the call is made before.
const WARMUP: u32 = 4;
/// Milliseconds from one of them to the next, and to the one that is traced.
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
    let entry = calls::find(name).ok_or_else(|| format!("no call is named {name:?}"))?;
    let milliseconds: u64 = milliseconds.parse().map_err(|_| USAGE)?;
    let noop = CString::new(noop.as_str()).map_err(|_| USAGE)?;
    let plan = Plan { name: name.clone(), batch: 1, samples: 1, warmup: WARMUP, apart: APART };
    let setup = Setup { batch: 1, pace: Pace::Tick { later: 0 }, noop };
    let mut afterwards = GiveWay { nanoseconds: milliseconds * NANOSECONDS };
    let made = entry.run(ClockName::Tsc, &plan, &setup, &mut afterwards);
    made.map(drop).map_err(|failure| match failure.errno {
        Some(number) => format!("{}: error {number}", failure.what),
        None => failure.what,
    })
}

/// Lets others run for some time, once the call was made.
struct GiveWay {
    nanoseconds: u64,
}

impl Handshake for GiveWay {
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
