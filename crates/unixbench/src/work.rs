//! The twelve tests at work.

pub mod arithmetic;
pub mod calls;
pub mod copying;
pub mod execl;
pub mod integers;
pub mod pipes;
pub mod shells;
pub mod spawning;

use std::fs::File;

use crate::clock::Clock;
use crate::fault::Result;
use crate::report::Report;
use crate::task::{Place, Work};
use crate::test::{LARGE, MIDDLE, SMALL, Test};
use crate::until::{Span, Until};

/// A test with everything that it needs before it is measured.
pub enum Prepared {
    /// Work on integers.
    Dhrystone(Box<integers::Ledger>),
    /// Work on floating-point numbers.
    Whetstone(arithmetic::Figures),
    /// A program to be executed.
    Execl(execl::Chain),
    /// Files in blocks of 256 bytes.
    Small(copying::Copying<{ SMALL.block }>),
    /// Files in blocks of 1024 bytes.
    Middle(copying::Copying<{ MIDDLE.block }>),
    /// Files in blocks of 4096 bytes.
    Large(copying::Copying<{ LARGE.block }>),
    /// A pipe.
    Pipe(pipes::Alone),
    /// Two pipes and a partner.
    Context(pipes::Partner),
    /// Nothing.
    Spawn(spawning::Spawning),
    /// A script and its input.
    Shell(shells::Scripts),
    /// Nothing.
    Syscall(calls::Mix),
}

impl Prepared {
    /// Prepares a test.
    pub fn new(test: Test, place: Place) -> Result<Self> {
        Ok(match test {
            Test::Dhrystone => Self::Dhrystone(Box::new(integers::Ledger::new())),
            Test::Whetstone => Self::Whetstone(arithmetic::Figures::new()),
            Test::Execl => Self::Execl(execl::Chain::new()?),
            Test::Copy(SMALL) => Self::Small(copying::Copying::new(test, &place)?),
            Test::Copy(MIDDLE) => Self::Middle(copying::Copying::new(test, &place)?),
            Test::Copy(_) => Self::Large(copying::Copying::new(test, &place)?),
            Test::Pipe => Self::Pipe(pipes::Alone::new()?),
            Test::Context => Self::Context(pipes::Partner::new()?),
            Test::Spawn => Self::Spawn(spawning::Spawning),
            Test::Shell(at_once) => Self::Shell(shells::Scripts::new(place, at_once)?),
            Test::Syscall => Self::Syscall(calls::Mix::new()),
        })
    }

    /// Does the work and reports it. `execl` reports from another program and does not return.
    pub fn work(self, span: Span, clock: Clock, report: &File) -> Result<()> {
        match self {
            Self::Execl(chain) => Err(chain.run(span, clock, report)),
            Self::Dhrystone(work) => measure(*work, span, clock, report),
            Self::Whetstone(work) => measure(work, span, clock, report),
            Self::Small(work) => measure(work, span, clock, report),
            Self::Middle(work) => measure(work, span, clock, report),
            Self::Large(work) => measure(work, span, clock, report),
            Self::Pipe(work) => measure(work, span, clock, report),
            Self::Context(work) => measure(work, span, clock, report),
            Self::Spawn(work) => measure(work, span, clock, report),
            Self::Shell(work) => measure(work, span, clock, report),
            Self::Syscall(work) => measure(work, span, clock, report),
        }
    }
}

/// Does all loops, checks the results, and only then reports.
fn measure<W: Work>(mut work: W, span: Span, clock: Clock, report: &File) -> Result<()> {
    let begin = clock.now();
    let mut until = Until::start(span);
    while until.more() {
        work.once()?;
    }
    let end = clock.now();
    let loops = until.done();
    work.finish(loops)?;
    // Counts stay far below 2^53.
    #[allow(clippy::cast_precision_loss)]
    let operations = loops as f64 * W::OPERATIONS;
    Report { begin, end, operations }.send(report)
}
