//! A process that repeatedly replaces itself by the same program.
//!
//! Its state is passed in its arguments: how many replacements are left or until when, how many
//! there were, when it began, and where to report.

use std::fs::File;
use std::os::fd::{FromRawFd, RawFd};

use crate::clock::{self, Clock};
use crate::fault::{Context, Fault, Result};
use crate::loop_limit::LoopLimit;
use crate::process;
use crate::report::Report;

/// The first argument of a program that continues a chain.
pub const STEP: &str = "execl-step";

const NANOSECONDS: u64 = 1_000_000_000;

/// A chain of programs that has not begun.
pub struct Chain {
    program: String,
}

/// The state of a chain.
#[derive(Debug, PartialEq, Eq)]
struct State {
    limit: LoopLimit,
    clock: Clock,
    report: RawFd,
    deadline: u64,
    begin: u64,
    done: u64,
}

impl Chain {
    /// Finds out which program this is.
    pub fn new() -> Result<Self> {
        let program = std::env::current_exe().context(|| "finding this program".into())?;
        Ok(Self { program: program.display().to_string() })
    }

    /// Begins the chain; returns only if that fails.
    pub fn run(self, limit: LoopLimit, clock: Clock, report: &File) -> Fault {
        let deadline = match limit {
            LoopLimit::Loops(_) => 0,
            LoopLimit::Seconds(seconds) => clock::monotonic() + seconds * NANOSECONDS,
        };
        let report = process::raw(report);
        let state = State { limit, clock, report, deadline, begin: clock.now(), done: 0 };
        state.replace(&self.program)
    }
}

impl State {
    /// Whether there were enough replacements.
    fn is_over(&self) -> bool {
        match self.limit {
            LoopLimit::Loops(loops) => self.done == loops,
            LoopLimit::Seconds(_) => clock::monotonic() >= self.deadline,
        }
    }

    /// Executes the next program of the chain.
    fn replace(&self, program: &str) -> Fault {
        let (kind, most) = match self.limit {
            LoopLimit::Loops(loops) => ("loops", loops),
            LoopLimit::Seconds(seconds) => ("seconds", seconds),
        };
        let argv = [
            program.into(),
            STEP.into(),
            kind.into(),
            most.to_string(),
            self.clock.name().into(),
            self.report.to_string(),
            self.deadline.to_string(),
            self.begin.to_string(),
            (self.done + 1).to_string(),
        ];
        process::execute(program, &argv, &[])
    }

    fn parse(words: &[String]) -> Option<Self> {
        let [kind, most, clock, report, deadline, begin, done] = words else { return None };
        let most = most.parse().ok()?;
        let limit = match kind.as_str() {
            "loops" => LoopLimit::Loops(most),
            "seconds" => LoopLimit::Seconds(most),
            _ => return None,
        };
        Some(Self {
            limit,
            clock: Clock::named(clock)?,
            report: report.parse().ok()?,
            deadline: deadline.parse().ok()?,
            begin: begin.parse().ok()?,
            done: done.parse().ok().filter(|&done| done > 0)?,
        })
    }
}

/// Continues a chain, or ends and reports it; returns the exit status.
pub fn step(words: &[String]) -> i32 {
    let Some(state) = State::parse(words) else {
        eprintln!("hardcost-unixbench: {STEP} is not for users");
        return 2;
    };
    match go_on(&state) {
        Ok(()) => 0,
        Err(fault) => {
            eprintln!("hardcost-unixbench: execl: {fault}");
            1
        }
    }
}

fn go_on(state: &State) -> Result<()> {
    if !state.is_over() {
        let program = std::env::args().next().unwrap_or_default();
        return Err(state.replace(&program));
    }
    let end = state.clock.now();
    // SAFETY: the chain's first program left this descriptor open for its last one.
    let report = unsafe { File::from_raw_fd(state.report) };
    // Counts stay far below 2^53.
    #[allow(clippy::cast_precision_loss)]
    let operations = state.done as f64;
    Report { begin: state.begin, end, operations }.send(&report)
}

#[cfg(test)]
mod tests {
    use super::State;
    use crate::clock::Clock;
    use crate::loop_limit::LoopLimit;

    #[test]
    fn what_a_program_tells_the_next_is_understood_whole_or_not_at_all() {
        let words = "loops 5 tsc 7 0 123 2".split(' ').map(String::from).collect::<Vec<_>>();
        let state = State::parse(&words).unwrap();
        assert_eq!((state.limit, state.clock), (LoopLimit::Loops(5), Clock::Tsc));
        assert_eq!((state.report, state.begin, state.done), (7, 123, 2));
        assert!(!state.is_over());
        assert!(State { done: 5, ..state }.is_over());
        assert_eq!(State::parse(&words[1..]), None);
        for wrong in ["rounds 5 tsc 7 0 123 2", "loops 5 tsc 7 0 123 0", "loops x tsc 7 0 123 2"] {
            let words = wrong.split(' ').map(String::from).collect::<Vec<_>>();
            assert_eq!(State::parse(&words), None, "{wrong}");
        }
    }
}
