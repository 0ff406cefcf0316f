//! The work of `UnixBench`'s twelve tests, as one static program.
//!
//! A test does its work a number of times (`--loops`) or for some time (`--seconds`), in one or
//! several concurrent processes (`--copies`). Results are checked: a wrong one ends the program
//! with status 1 and no number. The answer is one line of JSON: `operations` of all copies, and
//! `ticks` of the clock from the first copy's start to the last one's end.
//!
//! None of this is `UnixBench`'s code; the tests follow its published descriptions.
//!
//! - `options.rs`: the command line, its defaults and the most copies
//! - `test_names.rs`: the twelve tests, and the block and file size of the copies of files
//! - `loops/`: the work of each test; `loops.rs`: which type does which test
//! - `test_loop.rs`: what a loop must be able to do; `loop_limit.rs`: when it ends
//! - `copies.rs`: concurrent processes, their common start, and the sum
//! - `report.rs`: what a copy reports to the first process; `fault.rs`: why there is no result
//! - `clock.rs`: the clocks; `process.rs`: forks, pipes and executing
//!
//! Loops and copies that a workload asks for are in `src/hardcost/workloads/unixbench`.

// The standard library's own start-up would be part of the cost of each `execl`, so the C library
// calls `main` below directly.
#![cfg_attr(not(test), no_main)]

mod clock;
mod copies;
mod fault;
mod loop_limit;
mod loops;
mod options;
mod process;
mod report;
mod test_loop;
mod test_names;

use std::ffi::{c_char, c_int};

use options::{Options, USAGE};

/// Called by the C library; the return value is the process's exit status.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn main(_count: c_int, _arguments: *const *const c_char) -> c_int {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|word| word == loops::execl::STEP) {
        return loops::execl::step(&words[1..]);
    }
    match Options::parse(&words) {
        Ok(options) => run(&options),
        Err(reason) => {
            eprint!("hardcost-unixbench: {reason}\n{USAGE}");
            2
        }
    }
}

/// Runs the test of the options and returns the exit status.
fn run(options: &Options) -> c_int {
    match copies::run(options) {
        Ok(sum) => {
            println!(
                "{{\"test\": \"{}\", \"copies\": {}, \"operations\": {}, \"ticks\": {}}}",
                options.test.name(),
                options.copies,
                sum.operations,
                sum.ticks
            );
            0
        }
        Err(fault) => {
            eprintln!("hardcost-unixbench: {}: {fault}", options.test.name());
            1
        }
    }
}
