//! The twelve tests.

pub mod arithmetic;
pub mod calls;
pub mod copying;
pub mod execl;
pub mod integers;
pub mod pipes;
pub mod shells;
pub mod spawning;

use std::fs::File;
use std::path::PathBuf;

use crate::clock::Clock;
use crate::copies::Report;
use crate::fault::Result;
use crate::until::{Span, Until};

/// A test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    /// Work on integers, records and strings.
    Dhrystone,
    /// Work on floating-point numbers.
    Whetstone,
    /// A process that replaces itself by itself.
    Execl,
    /// A file copied in blocks of that many bytes.
    Copy(copying::Shape),
    /// A process that writes to a pipe and reads it.
    Pipe,
    /// Two processes that send each other a number.
    Context,
    /// Processes that start and end at once.
    Spawn,
    /// A shell script, several at once.
    Shell(u8),
    /// A mix of short system calls.
    Syscall,
}

impl Test {
    /// Every test, in the order of `UnixBench`'s table.
    pub const ALL: [Self; 12] = [
        Self::Dhrystone,
        Self::Whetstone,
        Self::Execl,
        Self::Copy(copying::MIDDLE),
        Self::Copy(copying::SMALL),
        Self::Copy(copying::LARGE),
        Self::Pipe,
        Self::Context,
        Self::Spawn,
        Self::Shell(1),
        Self::Shell(8),
        Self::Syscall,
    ];

    /// The test of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|test| test.name() == name)
    }

    /// The name of its option value.
    pub fn name(self) -> String {
        match self {
            Self::Dhrystone => "dhrystone".into(),
            Self::Whetstone => "whetstone".into(),
            Self::Execl => "execl".into(),
            Self::Copy(shape) => format!("copy-{}", shape.block),
            Self::Pipe => "pipe".into(),
            Self::Context => "context-switch".into(),
            Self::Spawn => "process".into(),
            Self::Shell(at_once) => format!("shell-{at_once}"),
            Self::Syscall => "system-call".into(),
        }
    }
}

/// The place where a copy of a test works, and its number.
#[derive(Clone, Debug)]
pub struct Place {
    /// The directory for its files.
    pub folder: PathBuf,
    /// Its number among the copies.
    pub number: usize,
}

impl Place {
    /// The path of a file of its own.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(format!("unixbench.{}.{name}", self.number))
    }
}

/// A loop of a test, on its prepared data.
pub trait Work {
    /// Operations in a loop.
    const OPERATIONS: f64 = 1.0;

    /// Does a loop.
    fn once(&mut self) -> Result<()>;

    /// Checks after `loops` of them that the results are right, and cleans up.
    fn finish(self, loops: u64) -> Result<()>;
}

/// A test with everything that it needs before it is measured.
pub enum Prepared {
    /// Work on integers.
    Dhrystone(Box<integers::Ledger>),
    /// Work on floating-point numbers.
    Whetstone(arithmetic::Figures),
    /// A program to be executed.
    Execl(execl::Chain),
    /// Files in blocks of 256 bytes.
    Small(copying::Copying<{ copying::SMALL.block }>),
    /// Files in blocks of 1024 bytes.
    Middle(copying::Copying<{ copying::MIDDLE.block }>),
    /// Files in blocks of 4096 bytes.
    Large(copying::Copying<{ copying::LARGE.block }>),
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
            Test::Copy(copying::SMALL) => Self::Small(copying::Copying::new(test, &place)?),
            Test::Copy(copying::MIDDLE) => Self::Middle(copying::Copying::new(test, &place)?),
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
