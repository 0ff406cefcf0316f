//! When timed windows begin.
//!
//! What a window leaves behind, such as memory that the kernel frees after a grace period or records
//! for the audit daemon, has to be done with before the next one begins; and where the kernel's tick
//! falls must not decide what a window costs. So under the instruction counter each window begins
//! some ticks after the one before, and always as far from a tick.
//!
//! Meanwhile the process works, though at nothing. If it slept, the processor would be idle, and the
//! emulator skips idle time now and then from a clock that it has not brought up to date (see
//! docs/determinism.md). A processor that is never idle is exact at the first attempt.

use core::arch::asm;
use core::ptr;
use core::time::Duration;

use rustix::time::{ClockId, Timespec, clock_getres, clock_gettime};

use crate::sys::{Fault, syscall, word};

/// From the tick to a window: the tick's own work and what it wakes are over. No longer than that,
/// since the scheduler ages its averages every 1,048,576 ns: where a window wakes somebody, such as
/// the kernel's audit thread, and that falls between the last tick and now, it takes 74 instructions.
const AFTER_TICK: u64 = 60_000;
/// So often a window may be late before it begins twice as far from the tick.
const ATTEMPTS: u32 = 4;
/// No window begins farther from the tick than [`AFTER_TICK`] doubled so often.
const DOUBLINGS: u32 = 5;
/// So close to a window no tick comes, so that instructions alone tell the time.
const CLOSE: u64 = 100_000;
/// The longest work between two looks at the clock: a tick prolongs it by less than [`CLOSE`].
const LONGEST: u64 = 1_000_000;
/// Instructions that are executed at a stretch. Each takes a nanosecond.
const BLOCK: u64 = 500;
/// By so much a window may begin later than it should.
const LATE: u64 = 2 * BLOCK;
/// So many nanoseconds in a second.
const SECOND: u64 = 1_000_000_000;
/// So many nanoseconds in a millisecond.
const MILLISECOND: u64 = 1_000_000;

/// How windows are kept apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Not at all.
    None,
    /// By sleeping so long.
    Pause(Duration),
    /// By working for some ticks, to the same distance from a tick each time: so many nanoseconds
    /// further than usual, but at most a quarter of the way to the next.
    Tick {
        /// How much further.
        later: u32,
    },
}

/// Keeps windows apart.
pub enum Pacer {
    /// By sleeping so long.
    Pause(Duration),
    /// By the tick: when one came, and how long after it the next does, in nanoseconds.
    Tick {
        /// When a tick came.
        phase: u64,
        /// From one tick to the next.
        period: u64,
        /// How much later in a tick windows begin than usual.
        later: u64,
    },
}

impl Pacer {
    /// Finds out what it takes to keep that pace.
    #[must_use]
    pub fn new(pace: Pace) -> Self {
        match pace {
            Pace::None => Self::Pause(Duration::ZERO),
            Pace::Pause(pause) => Self::Pause(pause),
            Pace::Tick { later } => {
                let period = period();
                let later = u64::from(later).min(period / 4);
                Self::Tick { phase: next_tick(), period, later }
            }
        }
    }

    /// From one tick to the next, in nanoseconds; 0 where it is not by the tick.
    #[must_use]
    pub fn period(&self) -> u64 {
        match *self {
            Self::Pause(_) => 0,
            Self::Tick { period, .. } => period,
        }
    }

    /// How many ticks there are from one reading of the monotonic clock to another.
    #[must_use]
    pub fn ticks(&self, from: u64, to: u64) -> u64 {
        let Self::Tick { phase, period, .. } = *self else { return 0 };
        let before = |time: u64| time.saturating_sub(phase) / period;
        before(to).saturating_sub(before(from))
    }

    /// Waits until the next window may begin: by ticks, so many milliseconds from now or later.
    ///
    /// # Errors
    ///
    /// The kernel refuses to let the process sleep.
    pub fn wait(&self, apart: u32) -> Result<(), Fault> {
        match *self {
            Self::Pause(pause) => sleep(pause),
            Self::Tick { phase, period, later } => {
                let mut earliest = monotonic() + u64::from(apart) * MILLISECOND;
                let mut late = 0;
                loop {
                    let ticks = earliest.saturating_sub(phase).div_ceil(period);
                    let after = (AFTER_TICK << (late / ATTEMPTS).min(DOUBLINGS)) + later;
                    let begin = phase + ticks * period + after;
                    let now = work_until(begin);
                    if now <= begin + LATE {
                        return Ok(());
                    }
                    // Others had more to do than usual.
                    earliest = now;
                    late += 1;
                }
            }
        }
    }
}

/// Waits for a tick, without sleeping, and returns when it came.
fn next_tick() -> u64 {
    let before = read(ClockId::MonotonicCoarse);
    loop {
        let now = read(ClockId::MonotonicCoarse);
        if now != before {
            return now;
        }
    }
}

/// From one tick to the next, in nanoseconds: what the coarse clock advances by.
fn period() -> u64 {
    nanoseconds(clock_getres(ClockId::MonotonicCoarse)).max(1)
}

/// What the monotonic clock says, in nanoseconds.
#[must_use]
pub fn monotonic() -> u64 {
    read(ClockId::Monotonic)
}

/// What a clock says, in nanoseconds.
fn read(clock: ClockId) -> u64 {
    nanoseconds(clock_gettime(clock))
}

fn nanoseconds(time: Timespec) -> u64 {
    time.tv_sec.unsigned_abs() * SECOND + time.tv_nsec.unsigned_abs()
}

/// Works until the monotonic clock says so; what it says then.
#[must_use]
pub fn work_until(time: u64) -> u64 {
    loop {
        let now = monotonic();
        let left = time.saturating_sub(now);
        let blocks = if left > CLOSE { (left - CLOSE / 2).min(LONGEST) } else { left } / BLOCK;
        if blocks == 0 {
            return now;
        }
        for _ in 0..blocks {
            // SAFETY: does nothing.
            unsafe {
                asm!(".rept {}", "nop", ".endr", const BLOCK, options(nomem, nostack, preserves_flags));
            }
        }
    }
}

/// Sleeps so long, if at all.
pub(crate) fn sleep(pause: Duration) -> Result<(), Fault> {
    if pause.is_zero() {
        return Ok(());
    }
    sleep_until(monotonic() + u64::try_from(pause.as_nanos()).unwrap_or(u64::MAX / 2))
}

/// Sleeps until the monotonic clock says so.
fn sleep_until(nanoseconds: u64) -> Result<(), Fault> {
    let part = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    let time =
        libc::timespec { tv_sec: part(nanoseconds / SECOND), tv_nsec: part(nanoseconds % SECOND) };
    let arguments = [
        word(libc::CLOCK_MONOTONIC),
        word(libc::TIMER_ABSTIME),
        &raw const time as usize,
        ptr::null::<u8>() as usize,
    ];
    // SAFETY: reads `time` alone.
    unsafe { syscall(libc::SYS_clock_nanosleep, arguments) }.map(drop)
}

#[cfg(test)]
mod tests {
    use super::{MILLISECOND, Pace, Pacer, monotonic};

    #[test]
    fn windows_begin_at_one_distance_from_a_tick_and_apart() {
        let pacer = Pacer::new(Pace::Tick { later: 0 });
        let Pacer::Tick { phase, period, .. } = pacer else { panic!("not by ticks") };
        let before = monotonic();
        pacer.wait(24).expect("waited");
        let after = monotonic();
        assert!(after - before >= 24 * MILLISECOND);
        assert_eq!(pacer.ticks(phase, phase + 3 * period), 3);
        assert_eq!(pacer.ticks(phase + 1, phase + period - 1), 0);
    }
}
