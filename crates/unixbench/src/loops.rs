//! The work of each test: its preparation, and the loop that is measured.
//!
//! Each file of `loops/` has its own sizes and how its result is checked: `integers.rs`
//! (dhrystone), `floating_point.rs` (whetstone), `execl.rs`, `file_copy.rs`, `pipes.rs` (pipe
//! throughput, with its block, and context switches between two processes), `process_creation.rs`
//! (spawn), `shell_scripts.rs`, `system_calls.rs`. When a loop ends is decided in
//! `src/loop_limit.rs`.

pub mod execl;
pub mod file_copy;
pub mod floating_point;
pub mod integers;
pub mod pipes;
pub mod process_creation;
pub mod shell_scripts;
pub mod system_calls;

use std::fs::File;

use crate::clock::Clock;
use crate::fault::Result;
use crate::loop_limit::{LoopCounter, LoopLimit};
use crate::report::Report;
use crate::test_loop::{TestLoop, WorkFolder};
use crate::test_names::{LARGE, MIDDLE, SMALL, Test};

/// A test with everything that it needs before it is measured.
pub enum Prepared {
    /// Work on integers.
    Dhrystone(Box<integers::Ledger>),
    /// Work on floating-point numbers.
    Whetstone(floating_point::Figures),
    /// A program to be executed.
    Execl(execl::Chain),
    /// Files in blocks of 256 bytes.
    Small(file_copy::FileCopy<{ SMALL.block }>),
    /// Files in blocks of 1024 bytes.
    Middle(file_copy::FileCopy<{ MIDDLE.block }>),
    /// Files in blocks of 4096 bytes.
    Large(file_copy::FileCopy<{ LARGE.block }>),
    /// A pipe.
    Pipe(pipes::Alone),
    /// Two pipes and a partner.
    Context(pipes::Partner),
    /// No data.
    Spawn(process_creation::ProcessCreation),
    /// A script and its input.
    Shell(shell_scripts::Scripts),
    /// No data.
    Syscall(system_calls::SyscallMix),
}

impl Prepared {
    /// Prepares a test.
    pub fn new(test: Test, folder: WorkFolder) -> Result<Self> {
        Ok(match test {
            Test::Dhrystone => Self::Dhrystone(Box::new(integers::Ledger::new())),
            Test::Whetstone => Self::Whetstone(floating_point::Figures::new()),
            Test::Execl => Self::Execl(execl::Chain::new()?),
            Test::Copy(SMALL) => Self::Small(file_copy::FileCopy::new(test, &folder)?),
            Test::Copy(MIDDLE) => Self::Middle(file_copy::FileCopy::new(test, &folder)?),
            Test::Copy(_) => Self::Large(file_copy::FileCopy::new(test, &folder)?),
            Test::Pipe => Self::Pipe(pipes::Alone::new()?),
            Test::Context => Self::Context(pipes::Partner::new()?),
            Test::Spawn => Self::Spawn(process_creation::ProcessCreation),
            Test::Shell(at_once) => Self::Shell(shell_scripts::Scripts::new(folder, at_once)?),
            Test::Syscall => Self::Syscall(system_calls::SyscallMix::new()),
        })
    }

    /// Does the work and reports it. `execl` reports from another program and does not return.
    pub fn work(self, limit: LoopLimit, clock: Clock, report: &File) -> Result<()> {
        match self {
            Self::Execl(chain) => Err(chain.run(limit, clock, report)),
            Self::Dhrystone(work) => measure(*work, limit, clock, report),
            Self::Whetstone(work) => measure(work, limit, clock, report),
            Self::Small(work) => measure(work, limit, clock, report),
            Self::Middle(work) => measure(work, limit, clock, report),
            Self::Large(work) => measure(work, limit, clock, report),
            Self::Pipe(work) => measure(work, limit, clock, report),
            Self::Context(work) => measure(work, limit, clock, report),
            Self::Spawn(work) => measure(work, limit, clock, report),
            Self::Shell(work) => measure(work, limit, clock, report),
            Self::Syscall(work) => measure(work, limit, clock, report),
        }
    }
}

/// Does all loops, checks the results, and only then reports.
fn measure<W: TestLoop>(mut work: W, limit: LoopLimit, clock: Clock, report: &File) -> Result<()> {
    let begin = clock.now();
    let mut counter = LoopCounter::start(limit);
    while counter.more() {
        work.once()?;
    }
    let end = clock.now();
    let loops = counter.done();
    work.finish(loops)?;
    // Counts stay far below 2^53.
    #[allow(clippy::cast_precision_loss)]
    let operations = loops as f64 * W::OPERATIONS;
    Report { begin, end, operations }.send(report)
}
