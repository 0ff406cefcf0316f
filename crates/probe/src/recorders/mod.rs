//! Watching the system while other things are done, for instruments that ride along.
//!
//! A thread of the probe takes a row of each thing watched at equal distances of the guest's clock.
//! What that takes is reported with what was seen.

mod audit;
mod avc;
mod cpu;
mod exits;
mod rows;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use self::audit::AuditWatch;
use self::avc::AvcWatch;
use self::cpu::CpuWatch;
use self::rows::{MOST, whole};
use crate::clock::{Clock, Tsc};
use crate::cputime::clock_of_thread;
use crate::error::{Error, Result};
use crate::place::Place;
use crate::protocol::{WatchedAnswer, What};

/// The shortest distance between rows: what a row takes is a good part of less.
const SHORTEST: Duration = Duration::from_millis(1);

/// A watch that goes on.
pub struct Watch {
    /// What the time-stamp counter said when it began.
    pub epoch: u64,
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<WatchedAnswer>,
}

impl Watch {
    /// Begins to watch.
    pub fn begin(what: &[What], period: u64, place: Place) -> Result<Self> {
        let period = Duration::from_nanos(period);
        if period < SHORTEST {
            return Err(Error::Other(format!("rows {period:?} apart are too many")));
        }
        // Finding where the kernel keeps its queue takes longer than many a thing to be watched.
        let audit = what.contains(&What::Audit).then(AuditWatch::begin).flatten();
        let epoch = Tsc::now();
        let watcher = Watcher::new(what, audit, epoch, period, place);
        let is_over = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&is_over);
        let thread = thread::spawn(move || watcher.run(&flag));
        Ok(Self { epoch, is_over, thread })
    }

    /// Ends it and tells what was seen.
    pub fn end(self) -> Result<WatchedAnswer> {
        self.is_over.store(true, Ordering::SeqCst);
        self.thread.thread().unpark();
        self.thread.join().map_err(|_| Error::Other("the watch has ended by itself".into()))
    }
}

/// What the thread has.
struct Watcher {
    epoch: u64,
    start: Instant,
    period: Duration,
    times: Vec<u64>,
    cpu: Option<CpuWatch>,
    audit: Option<AuditWatch>,
    avc: Option<AvcWatch>,
}

impl Watcher {
    fn new(
        what: &[What],
        audit: Option<AuditWatch>,
        epoch: u64,
        period: Duration,
        place: Place,
    ) -> Self {
        Self {
            epoch,
            start: Instant::now(),
            period,
            times: Vec::new(),
            cpu: what.contains(&What::Cpu).then(|| CpuWatch::begin(place)),
            audit,
            avc: what.contains(&What::Avc).then(AvcWatch::begin).flatten(),
        }
    }

    /// Takes rows until it is over, and one at the end.
    fn run(mut self, is_over: &AtomicBool) -> WatchedAnswer {
        let mut next = self.start;
        loop {
            next += self.period;
            wait(next, is_over);
            // Read first: a row that was begun too early must not be the last.
            let last = is_over.load(Ordering::SeqCst);
            self.take();
            if last {
                return self.tell();
            }
            if self.times.len() >= MOST {
                self.thin();
            }
            // Rows that could not be taken in time are left out.
            while next + self.period < Instant::now() {
                next += self.period;
            }
        }
    }

    fn take(&mut self) {
        self.times.push(Tsc::now().wrapping_sub(self.epoch));
        self.cpu.iter_mut().for_each(CpuWatch::take);
        self.audit.iter_mut().for_each(AuditWatch::take);
        self.avc.iter_mut().for_each(AvcWatch::take);
    }

    /// Keeps every other row, and takes half as many from now on.
    fn thin(&mut self) {
        rows::thin(&mut self.times);
        self.cpu.iter_mut().for_each(CpuWatch::thin);
        self.audit.iter_mut().for_each(AuditWatch::thin);
        self.avc.iter_mut().for_each(AvcWatch::thin);
        self.period *= 2;
    }

    fn tell(self) -> WatchedAnswer {
        let nanoseconds = whole(self.start.elapsed());
        let ticks = Tsc::now().wrapping_sub(self.epoch);
        let own = clock_of_thread();
        WatchedAnswer {
            period: whole(self.period),
            ticks,
            nanoseconds,
            times: self.times,
            own,
            cpu: self.cpu.map(|cpu| cpu.end(nanoseconds)),
            audit: self.audit.map(AuditWatch::end),
            avc: self.avc.map(AvcWatch::end),
        }
    }
}

/// Waits until then, or until it is over.
#[expect(clippy::disallowed_methods, reason = "it is a thread of its own")]
fn wait(until: Instant, is_over: &AtomicBool) {
    while !is_over.load(Ordering::SeqCst) {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        thread::park_timeout(left);
    }
}

#[cfg(test)]
mod tests {
    use std::thread::sleep;
    use std::time::Duration;

    use super::{Watch, What};
    use crate::place::Place;

    #[test]
    fn rows_are_taken_until_the_end_and_their_cost_is_told() {
        let watch =
            Watch::begin(&[What::Cpu, What::Avc], 1_000_000, Place::Host).expect("a thread");
        sleep(Duration::from_millis(30));
        let seen = watch.end().expect("seen");
        assert!(seen.times.len() > 1 && seen.times.is_sorted());
        assert!(seen.nanoseconds >= 30_000_000 && seen.ticks > 0);
        assert!(seen.own > 0 && seen.own < seen.nanoseconds);
        let cpu = seen.cpu.expect("asked for");
        assert!(cpu.series.values().all(|series| series.len() == seen.times.len()));
        assert!(seen.audit.is_none());
    }

    #[test]
    fn rows_too_close_to_each_other_are_refused() {
        assert!(Watch::begin(&[], 1000, Place::Host).is_err());
    }
}
