//! A crew of processes, each on a processor of its own.

use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Result, ensure};
use hardcost_linux::parallel_clock::ParallelClock;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};

/// Words of memory that all of a crew share.
const WORDS: usize = 64;
/// The distance between two words that are used, so that each has a line of its own.
const APART: usize = 8;

/// What a crew shares.
#[derive(Clone, Copy)]
pub struct Shared {
    words: *const AtomicU64,
}

impl Shared {
    fn new() -> Result<Self> {
        // SAFETY: a new mapping, which nothing else refers to.
        let start = unsafe {
            libc::mmap(
                ptr::null_mut(),
                WORDS * APART * size_of::<u64>(),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_POPULATE,
                -1,
                0,
            )
        };
        ensure!(start != libc::MAP_FAILED, "no memory");
        Ok(Self { words: start.cast() })
    }

    /// A word; the first are the crew's own.
    pub fn word(&self, number: usize) -> &AtomicU64 {
        assert!(number + OWN < WORDS, "there is no word {number}");
        // SAFETY: within the mapping, which stays.
        unsafe { &*self.words.add((OWN + number) * APART) }
    }

    fn own(&self, number: usize) -> &AtomicU64 {
        // SAFETY: as above.
        unsafe { &*self.words.add(number * APART) }
    }
}

/// The crew's own words: who is ready, and when the last ended.
const OWN: usize = 2;
const READY: usize = 0;
const ENDED: usize = 1;

/// What the length is measured by.
enum Clock {
    /// The clock of a guest of several processors, in parallel instructions.
    Parallel(ParallelClock),
    /// That of another machine, in nanoseconds.
    Monotonic,
}

impl Clock {
    fn find() -> Self {
        ParallelClock::open().map_or(Self::Monotonic, Self::Parallel)
    }

    fn now(&self) -> u64 {
        match self {
            Self::Parallel(clock) => clock.now(),
            Self::Monotonic => {
                let time = clock_gettime(ClockId::Monotonic);
                u64::try_from(time.tv_sec * 1_000_000_000 + time.tv_nsec).unwrap_or_default()
            }
        }
    }
}

/// Has each of some processes do its task on a processor of its own. Returns the length of it all.
///
/// A task is given what all share, and its number.
pub fn run(processes: u64, task: impl Fn(&Shared, u64)) -> Result<u64> {
    let clock = Clock::find();
    let shared = Shared::new()?;
    if matches!(clock, Clock::Monotonic) {
        // Whoever measures on a real machine keeps this process on one processor.
        let mut any = CpuSet::new();
        (0..CpuSet::MAX_CPU).for_each(|cpu| any.set(cpu));
        sched_setaffinity(None, &any)?;
    }
    let all = sched_getaffinity(None)?;
    let processors: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&cpu| all.is_set(cpu)).collect();
    let number = usize::try_from(processes)?;
    ensure!(number <= processors.len(), "{processes} processes need as many processors");
    let mut begin = 0;
    for (at, &processor) in processors[..number].iter().enumerate().rev() {
        let is_first = at == 0;
        // SAFETY: the child only does its task, and exits.
        let child = if is_first { 0 } else { unsafe { libc::fork() } };
        ensure!(child >= 0, "no process");
        if child > 0 {
            continue;
        }
        let mut own = CpuSet::new();
        own.set(processor);
        sched_setaffinity(None, &own)?;
        shared.own(READY).fetch_add(1, Ordering::SeqCst);
        while shared.own(READY).load(Ordering::SeqCst) < processes {
            std::hint::spin_loop();
        }
        begin = clock.now();
        task(&shared, at as u64);
        shared.own(ENDED).fetch_max(clock.now(), Ordering::SeqCst);
        if !is_first {
            // SAFETY: ends the child.
            unsafe { libc::_exit(0) };
        }
    }
    for _ in 1..number {
        let mut status = 0;
        // SAFETY: writes to `status` alone.
        let ended = unsafe { libc::wait(&raw mut status) };
        ensure!(ended > 0 && status == 0, "a process failed");
    }
    Ok(shared.own(ENDED).load(Ordering::SeqCst) - begin)
}
