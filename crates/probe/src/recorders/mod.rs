//! Recorders: a thread that observes the system while requests are done.
//!
//! It takes a row of each recorder at equal distances of the guest's clock. Its own processor time
//! is reported with the rows. A recorder waits for nothing, and changes no process.
//!
//! This file has the thread, and the shortest distance between rows. `cpu.rs`, `audit_queue.rs` and
//! `avc.rs` are the recorders; `cpu.rs` decides how many names are shown, and how time is split
//! where the kernel does not know it. `taskstats.rs` gives it the times of threads that have ended.
//! `time_series.rs` drops every other row when there are too many, `epoch.rs` is the time from
//! which they count. The distance that is asked for, and the sums, are the Python half's.

mod audit_queue;
mod avc;
mod cpu;
mod epoch;
mod taskstats;
mod time_series;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use self::audit_queue::AuditQueueRecorder;
use self::avc::AvcRecorder;
use self::cpu::CpuRecorder;
pub use self::epoch::RecordingEpoch;
use self::time_series::{MOST, whole};
use crate::clock::{Clock, Tsc};
use crate::error::{Error, Result};
use crate::machine::Machine;
use crate::processes::cpu_clocks::clock_of_thread;
use crate::protocol::{WatchedAnswer, What};

/// The shortest distance between rows: a row takes a good part of less.
const SHORTEST: Duration = Duration::from_millis(1);

/// A recording.
pub struct Recording {
    /// The time-stamp counter when it began.
    pub epoch: u64,
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<WatchedAnswer>,
}

impl Recording {
    /// Begins to record.
    pub fn begin(what: &[What], period: u64, machine: Machine) -> Result<Self> {
        let period = Duration::from_nanos(period);
        if period < SHORTEST {
            return Err(Error::Other(format!("rows {period:?} apart are too many")));
        }
        // Before the epoch: finding the queue's address takes longer than many requests.
        let audit = what.contains(&What::Audit).then(AuditQueueRecorder::begin).flatten();
        let epoch = Tsc::now();
        let recorder = RecorderThread::new(what, audit, epoch, period, machine);
        let is_over = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&is_over);
        let thread = thread::spawn(move || recorder.run(&flag));
        Ok(Self { epoch, is_over, thread })
    }

    /// Ends the recording, and returns the rows.
    pub fn end(self) -> Result<WatchedAnswer> {
        self.is_over.store(true, Ordering::SeqCst);
        self.thread.thread().unpark();
        self.thread.join().map_err(|_| Error::Other("the watch has ended by itself".into()))
    }
}

/// The state of the thread.
struct RecorderThread {
    epoch: u64,
    start: Instant,
    period: Duration,
    times: Vec<u64>,
    cpu: Option<CpuRecorder>,
    audit: Option<AuditQueueRecorder>,
    avc: Option<AvcRecorder>,
}

impl RecorderThread {
    fn new(
        what: &[What],
        audit: Option<AuditQueueRecorder>,
        epoch: u64,
        period: Duration,
        machine: Machine,
    ) -> Self {
        Self {
            epoch,
            start: Instant::now(),
            period,
            times: Vec::new(),
            cpu: what.contains(&What::Cpu).then(|| CpuRecorder::begin(machine)),
            audit,
            avc: what.contains(&What::Avc).then(AvcRecorder::begin).flatten(),
        }
    }

    /// Takes rows until the recording is over, and one at the end.
    fn run(mut self, is_over: &AtomicBool) -> WatchedAnswer {
        let mut next = self.start;
        loop {
            next += self.period;
            wait(next, is_over);
            // Before the row, so that the last row begins after the end.
            let last = is_over.load(Ordering::SeqCst);
            self.take();
            if last {
                return self.finish();
            }
            if self.times.len() >= MOST {
                self.thin();
            }
            // Rows that are already late are left out.
            while next + self.period < Instant::now() {
                next += self.period;
            }
        }
    }

    fn take(&mut self) {
        self.times.push(Tsc::now().wrapping_sub(self.epoch));
        self.cpu.iter_mut().for_each(CpuRecorder::take);
        self.audit.iter_mut().for_each(AuditQueueRecorder::take);
        self.avc.iter_mut().for_each(AvcRecorder::take);
    }

    /// Drops every other row, and doubles the distance from now on.
    fn thin(&mut self) {
        time_series::thin(&mut self.times);
        self.cpu.iter_mut().for_each(CpuRecorder::thin);
        self.audit.iter_mut().for_each(AuditQueueRecorder::thin);
        self.avc.iter_mut().for_each(AvcRecorder::thin);
        self.period *= 2;
    }

    fn finish(self) -> WatchedAnswer {
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
            audit: self.audit.map(AuditQueueRecorder::end),
            avc: self.avc.map(AvcRecorder::end),
        }
    }
}

/// Waits until that time, or until the recording is over.
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

    use super::{Recording, What};
    use crate::machine::Machine;

    #[test]
    fn rows_are_taken_until_the_end_and_their_cost_is_told() {
        let recording =
            Recording::begin(&[What::Cpu, What::Avc], 1_000_000, Machine::Host).expect("a thread");
        sleep(Duration::from_millis(30));
        let seen = recording.end().expect("seen");
        assert!(seen.times.len() > 1 && seen.times.is_sorted());
        assert!(seen.nanoseconds >= 30_000_000 && seen.ticks > 0);
        assert!(seen.own > 0 && seen.own < seen.nanoseconds);
        let cpu = seen.cpu.expect("asked for");
        assert!(cpu.series.values().all(|series| series.len() == seen.times.len()));
        assert!(seen.audit.is_none());
    }

    #[test]
    fn rows_too_close_to_each_other_are_refused() {
        assert!(Recording::begin(&[], 1000, Machine::Host).is_err());
    }
}
