//! Makes processes wait for each other in ways whose length queueing theory or a simulation knows.
//!
//! It shows how far the clock of several emulated processors can be believed. Each process has a
//! processor of its own. The answer is one line: how long all took by that clock, in parallel
//! instructions, from the moment when all are ready until the last has ended. On another machine it
//! is in nanoseconds. It is not shipped.
//!
//! - `crew.rs`: the processes: their start, their processors, memory that they share
//! - `waits.rs`: the ways in which they wait
//! - `work.rs`: work of so many instructions

mod crew;
mod waits;
mod work;

use anyhow::{Context, Result, bail};

const USAGE: &str = "usage: hardcost-contention count|lock|barrier|daemon|pipe|files NUMBER…\n\n\
    count PROCESSES WORK            each works\n\
    lock PROCESSES INSIDE OUTSIDE ROUNDS\n\
    \u{20}                               each works with a lock, then without it\n\
    barrier PROCESSES WORK ROUNDS   each works, the last as much as WORK, and all wait for it\n\
    daemon PRODUCERS EACH BETWEEN EVENTS\n\
    \u{20}                               producers work, then write an event for one that works on it\n\
    pipe WORK ROUNDS                two work in turns\n\
    files PROCESSES ROUNDS          each makes files, writes to them, and removes them\n\n\
    WORK and its like are instructions.\n";

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (way, numbers) = words.split_first().context(USAGE)?;
    let numbers: Vec<u64> =
        numbers.iter().map(|word| word.parse().context(USAGE)).collect::<Result<_>>()?;
    let length = match (way.as_str(), numbers.as_slice()) {
        ("count", &[processes, work]) => waits::count(processes, work)?,
        ("lock", &[processes, inside, outside, rounds]) => {
            waits::lock(processes, inside, outside, rounds)?
        }
        ("barrier", &[processes, work, rounds]) => waits::barrier(processes, work, rounds)?,
        ("daemon", &[producers, each, between, events]) => {
            waits::daemon(producers, each, between, events)?
        }
        ("pipe", &[work, rounds]) => waits::pipe(work, rounds)?,
        ("files", &[processes, rounds]) => waits::files(processes, rounds)?,
        _ => bail!(USAGE),
    };
    println!("{length}");
    Ok(())
}
