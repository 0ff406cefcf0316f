//! When each timed window begins.
//!
//! Work that a window leaves for later, such as memory that the kernel frees after a grace period
//! or records for the audit daemon, must be over before the next window. And the position of the
//! kernel's tick must not decide what a window costs. So under the instruction counter each window
//! begins some ticks after the one before, always at the same distance from a tick.
//!
//! Until then the process executes instructions without effect. If it slept, the processor would be
//! idle, and the emulator sometimes skips idle time by a clock that it has not updated (see
//! docs/determinism.md). A processor that is never idle is exact at the first attempt.

use core::arch::asm;
use core::ptr;
use core::time::Duration;

use rustix::time::{ClockId, Timespec, clock_getres, clock_gettime};

use crate::raw_syscalls::{Fault, syscall, word};

/// From the tick to a window: the tick's own work and what it wakes are over. It is no longer than
/// that, because the scheduler ages its averages every 1,048,576 ns. If that falls between the last
/// tick and a window that wakes a process, such as the kernel's audit thread, the window takes 74
/// instructions more.
const AFTER_TICK: u64 = 60_000;
/// After so many late attempts a window begins twice as far from the tick.
const ATTEMPTS: u32 = 4;
/// How often [`AFTER_TICK`] is doubled at most.
const DOUBLINGS: u32 = 5;
/// So close to a window no tick comes, so only instructions take time.
const CLOSE: u64 = 100_000;
/// The longest work between two readings of the clock: a tick prolongs it by less than [`CLOSE`].
const LONGEST: u64 = 1_000_000;
/// Instructions in one unit of work. Each takes a nanosecond.
const BLOCK: u64 = 500;
/// How late a window may begin.
const LATE: u64 = 2 * BLOCK;
/// Nanoseconds in a second.
const SECOND: u64 = 1_000_000_000;
/// Nanoseconds in a millisecond.
const MILLISECOND: u64 = 1_000_000;

/// When a window begins after the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowStart {
    /// At once.
    Immediate,
    /// After a sleep of that length.
    AfterSleep(Duration),
    /// After work for some ticks, each time at the same distance from a tick: so many nanoseconds
    /// more than usual, but at most a quarter of the way to the next tick.
    AfterTick {
        /// How many nanoseconds more.
        later: u32,
    },
}

/// Waits for the begin of the next window.
pub enum WindowTimer {
    /// By sleeping so long.
    Sleep(Duration),
    /// By ticks. All times are in nanoseconds.
    Tick {
        /// When a tick came.
        phase: u64,
        /// From one tick to the next.
        period: u64,
        /// How much later than usual after a tick windows begin.
        later: u64,
    },
}

impl WindowTimer {
    /// A timer for such windows; finds out when ticks come.
    #[must_use]
    pub fn new(window_start: WindowStart) -> Self {
        match window_start {
            WindowStart::Immediate => Self::Sleep(Duration::ZERO),
            WindowStart::AfterSleep(pause) => Self::Sleep(pause),
            WindowStart::AfterTick { later } => {
                let period = period();
                let later = u64::from(later).min(period / 4);
                Self::Tick { phase: last_tick(), period, later }
            }
        }
    }

    /// From one tick to the next, in nanoseconds; 0 if windows do not depend on ticks.
    #[must_use]
    pub fn period(&self) -> u64 {
        match *self {
            Self::Sleep(_) => 0,
            Self::Tick { period, .. } => period,
        }
    }

    /// How many ticks come between two readings of the monotonic clock.
    #[must_use]
    pub fn ticks(&self, from: u64, to: u64) -> u64 {
        let Self::Tick { phase, period, .. } = *self else { return 0 };
        let before = |time: u64| time.saturating_sub(phase) / period;
        before(to).saturating_sub(before(from))
    }

    /// Waits until the next window may begin. By ticks, that is at least so many milliseconds from
    /// now.
    ///
    /// # Errors
    ///
    /// The kernel refuses to let the process sleep.
    pub fn wait(&self, apart: u32) -> Result<(), Fault> {
        match *self {
            Self::Sleep(pause) => sleep(pause),
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
                    // The tick's work took longer than usual.
                    earliest = now;
                    late += 1;
                }
            }
        }
    }
}

/// When the last tick came: the coarse clock stands still until the next.
fn last_tick() -> u64 {
    read(ClockId::MonotonicCoarse)
}

/// From one tick to the next, in nanoseconds: the resolution of the coarse clock.
fn period() -> u64 {
    nanoseconds(clock_getres(ClockId::MonotonicCoarse)).max(1)
}

/// The monotonic clock, in nanoseconds.
#[must_use]
pub fn monotonic() -> u64 {
    read(ClockId::Monotonic)
}

/// A clock, in nanoseconds.
fn read(clock: ClockId) -> u64 {
    nanoseconds(clock_gettime(clock))
}

fn nanoseconds(time: Timespec) -> u64 {
    time.tv_sec.unsigned_abs() * SECOND + time.tv_nsec.unsigned_abs()
}

/// Works until that time of the monotonic clock. Returns its last reading.
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

/// Sleeps for that time, unless it is zero.
pub(crate) fn sleep(pause: Duration) -> Result<(), Fault> {
    if pause.is_zero() {
        return Ok(());
    }
    sleep_until(monotonic() + u64::try_from(pause.as_nanos()).unwrap_or(u64::MAX / 2))
}

/// Sleeps until that time of the monotonic clock.
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
    use super::{MILLISECOND, WindowStart, WindowTimer, monotonic};

    #[test]
    fn windows_begin_at_one_distance_from_a_tick_and_apart() {
        let timer = WindowTimer::new(WindowStart::AfterTick { later: 0 });
        let WindowTimer::Tick { phase, period, .. } = timer else { panic!("not by ticks") };
        let before = monotonic();
        timer.wait(24).expect("waited");
        let after = monotonic();
        assert!(after - before >= 24 * MILLISECOND);
        assert_eq!(timer.ticks(phase, phase + 3 * period), 3);
        assert_eq!(timer.ticks(phase + 1, phase + period - 1), 0);
    }
}
