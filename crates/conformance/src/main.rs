//! Makes system calls in a guest under many sets of audit rules, and reports which of them the
//! kernel recorded, with which key.
//!
//! Process 1 of a guest starts it with a file that holds a job ([`job::Job`]) and a file for the
//! answers ([`answers::Answer`], one a line). It becomes the audit daemon. Copies of it are the
//! workers that make the calls, and the program that does nothing when a call executes it. It never
//! judges whether a record is right: `conformance/` on the host does, which also draws the calls.
//!
//! - `battery.rs`: the course of a job: learning the calls' records, then each set of rules
//! - `worker.rs`: the processes that make the calls: ids taken on, files held, a child for some
//!   calls
//! - `file_steps.rs`: brings files into the state that a call needs, before it and after it
//! - `argument_memory.rs`: where the arguments lie that are addresses
//! - `syscall_entry.rs`: which entry into the kernel a call takes
//! - `audit_daemon.rs`: loads rules by auditctl, keeps records; the backlog limit
//! - `record_matcher.rs`: which call a record is of, and its key

// The standard library's own start-up would be calls that are recorded of every program that a
// battery's calls execute, so the C library calls `main` below directly.
#![cfg_attr(not(test), no_main)]

mod answers;
mod argument_memory;
mod audit_daemon;
mod battery;
mod file_steps;
mod job;
mod record_matcher;
mod syscall_entry;
mod worker;

use std::ffi::{c_char, c_int};
use std::fs::{self, File};
use std::io::{BufWriter, Write};

use anyhow::{Context, Result};

use answers::Answers;

/// The verb that does a job; the job's file and that of the answers follow.
const VERB: &str = "job";

/// Called by the C library; the return value is the process's exit status.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn main(count: c_int, _arguments: *const *const c_char) -> c_int {
    if count < 2 {
        // SAFETY: ends the process without running anything more.
        unsafe { libc::_exit(0) }
    }
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [worker::VERB] => worker::run(),
        [VERB, job, answers] => match do_job(job, answers) {
            Ok(()) => 0,
            Err(error) => {
                eprintln!("{error:#}");
                1
            }
        },
        _ => {
            eprintln!("usage: hardcost-conformance {VERB} JOB ANSWERS");
            2
        }
    }
}

/// Does the job in a file, and writes the answers to another.
fn do_job(job: &str, answers: &str) -> Result<()> {
    let job = serde_json::from_slice(&fs::read(job).context(job.to_owned())?)?;
    let file = File::create(answers).context(answers.to_owned())?;
    let mut answers = Answers(BufWriter::new(file));
    battery::run(&job, &mut answers)?;
    answers.0.flush().context("writing the answers")
}
