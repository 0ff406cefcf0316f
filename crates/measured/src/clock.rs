//! The two clocks that can be read around a window.
//!
//! Reading one must cost as few instructions as possible: the cost is part of each sample.

use alloc::vec;
use alloc::vec::Vec;
use core::arch::asm;

use rustix::time::{ClockId, clock_gettime};

/// Which clock to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockName {
    /// The time-stamp counter, in ticks.
    Tsc,
    /// `CLOCK_MONOTONIC`, in nanoseconds.
    Monotonic,
}

/// A clock whose type is known when the window around it is compiled.
pub trait Clock {
    /// The present time in the clock's unit. The compiler moves no memory access across it.
    fn now() -> u64;
}

/// The time-stamp counter.
pub struct Tsc;

impl Clock for Tsc {
    #[inline]
    fn now() -> u64 {
        let (low, high): (u32, u32);
        // SAFETY: reads a register. Without `nomem` the compiler treats it as a memory barrier.
        unsafe { asm!("rdtsc", out("eax") low, out("edx") high, options(nostack, preserves_flags)) }
        (u64::from(high) << 32) | u64::from(low)
    }
}

/// The system's monotonic clock.
pub struct Monotonic;

impl Clock for Monotonic {
    #[inline]
    fn now() -> u64 {
        let time = clock_gettime(ClockId::Monotonic);
        unsigned(time.tv_sec) * 1_000_000_000 + unsigned(time.tv_nsec)
    }
}

/// A number that is never negative, as the type that says so; costs no instruction.
#[inline]
fn unsigned(number: i64) -> u64 {
    u64::from_ne_bytes(number.to_ne_bytes())
}

impl ClockName {
    /// The present time in the clock's unit.
    #[must_use]
    pub fn now(self) -> u64 {
        match self {
            Self::Tsc => Tsc::now(),
            Self::Monotonic => Monotonic::now(),
        }
    }

    /// What `windows` empty windows take by the clock.
    #[must_use]
    pub fn overhead(self, windows: usize) -> Vec<u64> {
        match self {
            Self::Tsc => overhead::<Tsc>(windows),
            Self::Monotonic => overhead::<Monotonic>(windows),
        }
    }
}

fn overhead<C: Clock>(windows: usize) -> Vec<u64> {
    let mut ticks = vec![0; windows];
    for slot in &mut ticks {
        let start = C::now();
        *slot = C::now().wrapping_sub(start);
    }
    ticks
}

#[cfg(test)]
mod tests {
    use super::ClockName;

    #[test]
    fn clocks_do_not_run_backwards() {
        for clock in [ClockName::Tsc, ClockName::Monotonic] {
            assert!(clock.now() <= clock.now());
            let overhead = clock.overhead(33);
            assert_eq!(overhead.len(), 33);
            assert!(overhead.iter().any(|&ticks| ticks < 10_000_000));
        }
    }
}
