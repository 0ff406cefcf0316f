//! A test in several concurrent processes, which all begin at the same moment.

use std::fs::File;
use std::io::{Read, Write};

use crate::fault::{Context, Fault, Result};
use crate::loops::Prepared;
use crate::options::Options;
use crate::process::{self, Child};
use crate::report::Report;
use crate::test_loop::WorkFolder;

/// The work of all copies together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sum {
    /// The number of operations.
    pub operations: f64,
    /// From the start of the first copy to the end of the last.
    pub ticks: u64,
}

/// Runs all copies to their end.
pub fn run(options: &Options) -> Result<Sum> {
    let (mut ready, is_ready) = process::pipe()?;
    let (go, may_go) = process::pipe()?;
    let (mut reports, report) = process::pipe()?;
    let mut children: Vec<Child> = Vec::new();
    for number in 0..options.copies {
        let folder = WorkFolder { folder: options.folder.clone(), number };
        children.push(process::fork(|| {
            // The others' waiting ends when the last writer has gone.
            let gate = Gate { is_ready: &is_ready, go: &go };
            process::close([process::raw(&may_go)]);
            status(copy(options, folder, &gate, &report))
        })?);
    }
    drop((is_ready, report));
    let mut all = vec![0; options.copies];
    // If a copy fails during preparation, the others run to their end; its status is checked below.
    let _ = ready.read_exact(&mut all);
    drop(may_go);
    let mut text = String::new();
    reports.read_to_string(&mut text).context(|| "reading reports".into())?;
    children.into_iter().try_for_each(Child::wait)?;
    sum(&text, options.copies)
}

/// Holds a copy back until all of them are ready.
struct Gate<'a> {
    is_ready: &'a File,
    go: &'a File,
}

impl Gate<'_> {
    fn pass(&self) -> Result<()> {
        let (mut is_ready, mut go) = (self.is_ready, self.go);
        is_ready.write_all(&[1]).context(|| "saying ready".into())?;
        process::close([process::raw(is_ready)]);
        go.read(&mut [0]).context(|| "waiting for the others".into()).map(drop)
    }
}

/// Does a copy's work and reports it.
fn copy(options: &Options, folder: WorkFolder, gate: &Gate, report: &File) -> Result<()> {
    let prepared = Prepared::new(options.test, folder)?;
    gate.pass()?;
    prepared.work(options.limit, options.clock, report)
}

/// A child's exit status; a fault is printed to standard error.
fn status(result: Result<()>) -> u8 {
    let Err(fault) = result else { return 0 };
    eprintln!("hardcost-unixbench: {fault}");
    1
}

/// Sums the copies' reports.
fn sum(text: &str, copies: usize) -> Result<Sum> {
    let reports: Option<Vec<Report>> = text.lines().map(Report::parse).collect();
    let reports = reports.filter(|reports| reports.len() == copies).ok_or_else(|| {
        Fault(format!("{copies} copies reported in other words than expected: {text:?}"))
    })?;
    let begin = reports.iter().map(|report| report.begin).min().unwrap_or_default();
    let end = reports.iter().map(|report| report.end).max().unwrap_or_default();
    Ok(Sum { operations: reports.iter().map(|report| report.operations).sum(), ticks: end - begin })
}

#[cfg(test)]
mod tests {
    use super::{Sum, sum};

    #[test]
    fn operations_add_up_from_the_first_begin_to_the_last_end() {
        assert_eq!(sum("5 10 2\n7 12 3\n", 2), Ok(Sum { operations: 5.0, ticks: 7 }));
    }

    #[test]
    fn a_copy_that_says_nothing_or_nonsense_is_no_result() {
        for text in ["", "5 10 2\n", "5 10 2\n12 7 3\n", "5 10 2\n7 12 0\n", "5 10 2\n7 12 3 4\n"] {
            assert!(sum(text, 2).is_err(), "{text}");
        }
    }
}
