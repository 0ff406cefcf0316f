//! Perturbations: changes without a meaning, to average over what one execution depends on by
//! chance.
//!
//! One execution repeats to the last instruction, and is still a single draw. It depends on where
//! the kernel's ticks fall, which pages and objects are free, random numbers, and how long a
//! program's environment is. A perturbation changes all of these by its number; the same number
//! makes the same changes in each guest.

use std::io;
use std::os::fd::OwnedFd;
use std::ptr;

use hardcost_measured::window_start::{WindowStart, WindowTimer, monotonic, work_until};
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use rustix::pipe::{PipeFlags, pipe_with};

use crate::error::{Context, Result, refusal};
use crate::guest::entropy;
use crate::machine::Machine;

/// The variable that lengthens the environment of programs.
const VARIABLE: &str = "PERTURBATION";
/// It is shorter than that, in characters.
const LONGEST: u64 = 512;
/// Windows begin less than that later after a tick, in nanoseconds.
const LATEST: u64 = 1_000_000;
/// The next request is delayed by fewer ticks than that, and a fraction of one.
const TICKS: u64 = 16;
/// Fewer pages than that are allocated.
const PAGES: u64 = 256;
/// Fewer pipes than that are opened: each takes inodes, files, names and buffers from the kernel.
const PIPES: u64 = 64;
const PAGE: usize = 4096;

/// The number of a set of changes; 0: none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Perturbation(u32);

/// What a number is drawn for.
#[derive(Clone, Copy)]
enum Which {
    Later = 1,
    Variable,
    Ticks,
    Part,
    Pages,
    Pipes,
    Random,
}

impl Perturbation {
    /// How much later than usual after a tick windows begin, in nanoseconds.
    pub fn later(self) -> u32 {
        u32::try_from(self.draw(Which::Later, LATEST)).unwrap_or(0)
    }

    /// The variable to add to the environment of programs, if any.
    pub fn variable(self) -> Option<(String, String)> {
        let length = usize::try_from(self.draw(Which::Variable, LONGEST)).unwrap_or(0);
        (self.0 != 0).then(|| (VARIABLE.to_owned(), "x".repeat(length)))
    }

    /// A number below a bound: 0 without a perturbation, else by the perturbation's number and the
    /// purpose.
    fn draw(self, which: Which, below: u64) -> u64 {
        if self.0 == 0 { 0 } else { mixed((u64::from(self.0) << 8) | which as u64) % below }
    }
}

/// Mixes bits: the finaliser of `SplitMix64` (Steele, Lea and Flood, "Fast splittable pseudorandom
/// number generators", 2014).
fn mixed(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The changes in force, until this is dropped.
#[derive(Default)]
pub struct Perturbed {
    /// The perturbation.
    pub perturbation: Perturbation,
    _pages: Option<Pages>,
    _pipes: Vec<(OwnedFd, OwnedFd)>,
}

impl Perturbed {
    /// Makes the changes of a number.
    pub fn by(number: u32, machine: Machine) -> Result<Self> {
        let perturbation = Perturbation(number);
        if number == 0 {
            return Ok(Self::default());
        }
        let count = perturbation.draw(Which::Pages, PAGES);
        let pages = Pages::take(usize::try_from(count).unwrap_or(0) + 1)
            .context(|| "taking pages".into())?;
        let pipes = (0..perturbation.draw(Which::Pipes, PIPES))
            .map(|_| pipe_with(PipeFlags::CLOEXEC))
            .collect::<rustix::io::Result<_>>()
            .context(|| "a pipe".into())?;
        if machine == Machine::Guest {
            entropy::mix(perturbation.draw(Which::Random, u64::MAX))?;
        }
        delay(perturbation)?;
        Ok(Self { perturbation, _pages: Some(pages), _pipes: pipes })
    }
}

/// Works for that many ticks, and that fraction of one.
fn delay(perturbation: Perturbation) -> Result<()> {
    let timer = WindowTimer::new(WindowStart::AfterTick { later: 0 });
    let waited = timer.wait(0).map_err(refusal);
    waited.context(|| "waiting for a tick".into())?;
    let period = timer.period();
    let whole = period * perturbation.draw(Which::Ticks, TICKS);
    let _ = work_until(monotonic() + whole + perturbation.draw(Which::Part, period));
    Ok(())
}

/// Allocated pages without a use.
struct Pages {
    start: *mut libc::c_void,
    length: usize,
}

impl Pages {
    fn take(count: usize) -> io::Result<Self> {
        let length = count * PAGE;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let flags = MapFlags::PRIVATE | MapFlags::POPULATE;
        // SAFETY: a new mapping, at an address that the kernel chooses.
        let start = unsafe { mmap_anonymous(ptr::null_mut(), length, protection, flags) }?;
        Ok(Self { start, length })
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: nothing else refers to the mapping. Failing to unmap does no harm.
        let _ = unsafe { munmap(self.start, self.length) };
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Perturbation, Perturbed, Which};
    use crate::machine::Machine;

    #[test]
    fn no_perturbation_changes_nothing() {
        let none = Perturbation::default();
        assert_eq!((none.later(), none.variable()), (0, None));
    }

    #[test]
    fn each_number_changes_something_else_and_the_same_each_time() {
        let of = |number| {
            let one = Perturbation(number);
            (one.later(), one.variable(), one.draw(Which::Ticks, super::TICKS))
        };
        let found: BTreeSet<_> = (0..200).map(of).collect();
        assert_eq!(found.len(), 200);
        assert_eq!(of(7), of(7));
    }

    #[test]
    fn what_is_taken_is_given_back() {
        let open = || std::fs::read_dir("/proc/self/fd").expect("readable").count();
        let before = open();
        let number = (1..100).find(|&n| Perturbation(n).draw(Which::Pipes, super::PIPES) > 9);
        let perturbed = Perturbed::by(number.expect("one"), Machine::Host).expect("perturbed");
        assert!(open() > before + 18);
        drop(perturbed);
        assert!(open() <= before + 4, "others may have opened some");
    }
}
