//! The clocks for measuring a test.

use std::sync::OnceLock;

use hardcost_linux::parallel_clock::ParallelClock;

/// Which clock to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The time-stamp counter, in ticks.
    Tsc,
    /// `CLOCK_MONOTONIC`, in nanoseconds.
    Monotonic,
    /// That of several emulated processors, which the probe keeps, in instructions.
    Parallel,
}

impl Clock {
    /// The clock of that name, if there is one here.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "tsc" => Some(Self::Tsc),
            "monotonic" => Some(Self::Monotonic),
            "parallel" => parallel().map(|_| Self::Parallel),
            _ => None,
        }
    }

    /// The name of its option value.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tsc => "tsc",
            Self::Monotonic => "monotonic",
            Self::Parallel => "parallel",
        }
    }

    /// The current time in the clock's unit.
    pub fn now(self) -> u64 {
        match self {
            // SAFETY: reads a register.
            Self::Tsc => unsafe { core::arch::x86_64::_rdtsc() },
            Self::Monotonic => monotonic(),
            Self::Parallel => parallel().map_or(0, ParallelClock::now),
        }
    }
}

/// The clock of several processors, where the probe keeps one.
fn parallel() -> Option<&'static ParallelClock> {
    static CLOCK: OnceLock<Option<ParallelClock>> = OnceLock::new();
    CLOCK.get_or_init(|| ParallelClock::open().ok()).as_ref()
}

/// The system's monotonic clock, in nanoseconds.
pub fn monotonic() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes to `time` alone; this clock always exists.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    unsigned(time.tv_sec) * 1_000_000_000 + unsigned(time.tv_nsec)
}

/// A non-negative number as an unsigned one.
fn unsigned(number: i64) -> u64 {
    u64::from_ne_bytes(number.to_ne_bytes())
}

#[cfg(test)]
mod tests {
    use super::Clock;

    #[test]
    fn clocks_keep_their_names_and_do_not_run_backwards() {
        for clock in [Clock::Tsc, Clock::Monotonic] {
            assert_eq!(Clock::named(clock.name()), Some(clock));
            assert!(clock.now() <= clock.now());
        }
        assert_eq!(Clock::named("sundial"), None);
        // Only the guest of several processors has it.
        assert_eq!(Clock::named("parallel"), None);
    }
}
