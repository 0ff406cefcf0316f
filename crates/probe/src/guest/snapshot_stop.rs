//! Silences the machine's timers, so that it can stop without losing its place in time.
//!
//! When the guest stops itself under QEMU's instruction counter, QEMU may take the processor for
//! idle and push the clock to the next timer; whether it does is a matter of luck. With no timer
//! left there is nothing to push the clock to, and every stop is the same. Of the devices that a
//! guest has here, four keep a timer: the clock chip's alarm, what firmware and kernel left
//! behind and never use again, the high-precision event timer (HPET), and the processor's own timer,
//! which drives the kernel's tick.

use std::fs::{self, File};
use std::ptr;
use std::thread;
use std::time::Duration;

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use crate::ports;

/// Where the HPET stands in physical memory, and its registers, in bytes from there.
/// Source: IA-PC HPET Specification 1.0a, "Register Overview".
const HPET: u64 = 0xfed0_0000;
const CAPABILITIES: usize = 0x00;
const CONFIGURATION: usize = 0x10;
const FIRST_TIMER: usize = 0x100;
const NEXT_TIMER: usize = 0x20;
/// The capabilities' upper half of QEMU's HPET: its maker. Where nothing stands all bits are set.
const MAKER: u32 = 0x8086;
/// Of the configuration: the counter runs, and timers with it.
const RUNS: u32 = 1;
/// Of a timer's configuration: it interrupts.
const INTERRUPTS: u32 = 1 << 2;

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

/// Names the device by which the kernel keeps the time.
const CLOCK: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

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
    if let Some(timer) = EventTimer::open() {
        timer.silence();
    }
    match LocalTimer::open() {
        Some(timer) => timer.paused(ports::stop),
        None => ports::stop(),
    }
}

/// The HPET. Kernels let it interrupt at their start, until they have the processor's timer. QEMU 10
/// keeps its timer going after that, each tick and for nobody; QEMU 7.2 does not.
struct EventTimer {
    registers: Registers,
}

impl EventTimer {
    fn open() -> Option<Self> {
        let registers = Registers::open(HPET)?;
        (registers.read(CAPABILITIES) >> 16 == MAKER).then_some(Self { registers })
    }

    /// Stops it for good, unless the kernel uses it.
    fn silence(&self) {
        if !self.interrupts() && !is_the_clock() {
            self.registers.write(CONFIGURATION, self.registers.read(CONFIGURATION) & !RUNS);
        }
    }

    /// Whether one of its timers does.
    fn interrupts(&self) -> bool {
        let last = ((self.registers.read(CAPABILITIES) >> 8) & 0x1f) as usize;
        (0..=last)
            .map(|number| FIRST_TIMER + number * NEXT_TIMER)
            .any(|timer| self.registers.read(timer) & INTERRUPTS != 0)
    }
}

/// Whether the kernel reads the time from the HPET, or does not say.
fn is_the_clock() -> bool {
    fs::read_to_string(CLOCK).map_or(true, |name| name.trim_end() == "hpet")
}

/// The processor's timer.
struct LocalTimer {
    registers: Registers,
}

impl LocalTimer {
    fn open() -> Option<Self> {
        let registers = Registers::open(LOCAL_APIC)?;
        (registers.read(TIMER_MODE) & NOT_ONE_SHOT == 0).then_some(Self { registers })
    }

    /// Carries out `action` while the timer stands still.
    fn paused<T>(&self, action: impl FnOnce() -> T) -> T {
        let registers = &self.registers;
        let mut left = registers.read(CURRENT_COUNT);
        while left < SAFE_COUNT {
            left = registers.read(CURRENT_COUNT);
        }
        registers.write(INITIAL_COUNT, 0);
        let result = action();
        registers.write(INITIAL_COUNT, left);
        result
    }
}

/// A page of a device's registers.
struct Registers {
    start: *mut u32,
}

impl Registers {
    /// Maps the page at an address of physical memory.
    fn open(place: u64) -> Option<Self> {
        let memory = File::options().read(true).write(true).open("/dev/mem").ok()?;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a fresh mapping of a page of device registers, which nothing else here refers to.
        let start = unsafe {
            mmap(ptr::null_mut(), PAGE, protection, MapFlags::SHARED, &memory, place).ok()?
        };
        Some(Self { start: start.cast() })
    }

    fn read(&self, register: usize) -> u32 {
        // SAFETY: within the page that `open` mapped; registers are 32 bits wide.
        unsafe { self.start.byte_add(register).read_volatile() }
    }

    fn write(&self, register: usize, value: u32) {
        // SAFETY: as for `read`. The kernel itself writes such values there.
        unsafe { self.start.byte_add(register).write_volatile(value) }
    }
}

impl Drop for Registers {
    fn drop(&mut self) {
        // SAFETY: `open` mapped it, and nothing else refers to it.
        let _ = unsafe { munmap(self.start.cast(), PAGE) };
    }
}
