//! Silences the machine's timers, so that it can stop without losing its place in time.
//!
//! When the guest stops itself under QEMU's instruction counter, QEMU may take the processor for
//! idle and push the clock to the next timer; whether it does is a matter of luck. With no timer
//! left there is nothing to push the clock to, and every stop is the same. Of the devices that a
//! guest has here, three keep a timer: the clock chip's alarm, what firmware and kernel left
//! behind and never use again, and the processor's own timer, which drives the kernel's tick.

use std::fs::File;
use std::ptr;
use std::thread;
use std::time::Duration;

use rustix::mm::{MapFlags, ProtFlags, mmap};

use crate::ports;

/// Where the processor's timer (the local APIC) stands in physical memory, and its registers.
/// Source: Intel's Software Developer's Manual, volume 3, chapter "APIC".
const LOCAL_APIC: u64 = 0xfee0_0000;
const PAGE: usize = 4096;
const TIMER_MODE: usize = 0x320;
const INITIAL_COUNT: usize = 0x380;
const CURRENT_COUNT: usize = 0x390;
/// Bits of the mode: masked, periodic, deadline. None is set in the one mode that can be resumed.
const NOT_ONE_SHOT: u32 = 0b111 << 16;
/// So many counts before its end the timer can't go off between two of our instructions.
const SAFE_COUNT: u32 = 2000;

/// By then the timers that nobody uses have gone off for the last time: the alarm of the clock chip
/// within a second, the others before. Guest time; an idle guest's time passes at once.
const LEFT_OVERS: Duration = Duration::from_millis(2500);

/// Stops the machine with no timer running, as far as the kernel lets us; returns `ports::stop`'s
/// ticks.
///
/// Needs `/dev/mem` with `iomem=relaxed` on the kernel's line. Without it the machine stops all the
/// same, and it's up to the host to look at the ticks.
#[expect(clippy::disallowed_methods, reason = "there is no job yet")]
pub fn stop() -> u64 {
    ports::silence_alarm();
    thread::sleep(LEFT_OVERS);
    match LocalTimer::open() {
        Some(timer) => timer.paused(ports::stop),
        None => ports::stop(),
    }
}

/// The processor's timer.
struct LocalTimer {
    registers: *mut u32,
}

impl LocalTimer {
    fn open() -> Option<Self> {
        let memory = File::options().read(true).write(true).open("/dev/mem").ok()?;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a fresh mapping of a page of device registers, which nothing else here refers to.
        let start = unsafe {
            mmap(ptr::null_mut(), PAGE, protection, MapFlags::SHARED, &memory, LOCAL_APIC).ok()?
        };
        let timer = Self { registers: start.cast() };
        (timer.read(TIMER_MODE) & NOT_ONE_SHOT == 0).then_some(timer)
    }

    /// Carries out `action` while the timer stands still.
    fn paused<T>(&self, action: impl FnOnce() -> T) -> T {
        let mut left = self.read(CURRENT_COUNT);
        while left < SAFE_COUNT {
            left = self.read(CURRENT_COUNT);
        }
        self.write(INITIAL_COUNT, 0);
        let result = action();
        self.write(INITIAL_COUNT, left);
        result
    }

    fn read(&self, register: usize) -> u32 {
        // SAFETY: within the page that `open` mapped; the device's registers are 32 bits wide.
        unsafe { self.registers.byte_add(register).read_volatile() }
    }

    fn write(&self, register: usize, value: u32) {
        // SAFETY: as for `read`. A count is what the kernel itself writes there.
        unsafe { self.registers.byte_add(register).write_volatile(value) }
    }
}
