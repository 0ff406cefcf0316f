//! Stopping a guest for its snapshot with all timers silenced, so that every stop takes the same
//! time.
//!
//! When the guest stops itself under QEMU's instruction counter, QEMU may treat the processor as
//! idle and advance the clock to the next timer; whether it does depends on chance. Without a timer
//! there is nothing to advance to. Of a guest's devices here four have timers: the alarm of the
//! real-time clock, what firmware and kernel have started and never use again, the high-precision
//! event timer (HPET), and the processor's own timer, which drives the kernel's tick.

use std::fs::{self, File};
use std::ptr;
use std::thread;
use std::time::Duration;

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use crate::guest::qemu_ports;

/// The HPET's physical address, and the offsets of its registers, in bytes. Source: IA-PC HPET
/// Specification 1.0a, "Register Overview".
const HPET: u64 = 0xfed0_0000;
const CAPABILITIES: usize = 0x00;
const CONFIGURATION: usize = 0x10;
const FIRST_TIMER: usize = 0x100;
const NEXT_TIMER: usize = 0x20;
/// The upper half of the capabilities of QEMU's HPET: its vendor. Without an HPET all bits are set.
const MAKER: u32 = 0x8086;
/// In the configuration: the counter runs, and timers with it.
const RUNS: u32 = 1;
/// In a timer's configuration: it interrupts.
const INTERRUPTS: u32 = 1 << 2;

/// The physical address of the processor's timer (the local APIC), and the offsets of its
/// registers. Source: Intel's Software Developer's Manual, volume 3, chapter "APIC".
const LOCAL_APIC: u64 = 0xfee0_0000;
const PAGE: usize = 4096;
const TIMER_MODE: usize = 0x320;
const INITIAL_COUNT: usize = 0x380;
const CURRENT_COUNT: usize = 0x390;
/// Bits of the mode: masked, periodic, deadline. None is set in the one mode that can be resumed.
const NOT_ONE_SHOT: u32 = 0b111 << 16;
/// With so many counts left the timer can't go off between two of these instructions.
const SAFE_COUNT: u32 = 2000;

/// The name of the kernel's clock source.
const CLOCK: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

/// By then the unused timers have gone off for the last time: the alarm of the real-time clock
/// within a second, the others before. In the guest's time, which passes at once in an idle guest.
const LEFT_OVERS: Duration = Duration::from_millis(2500);

/// Stops the machine with no timer running, as far as the kernel allows. Returns the ticks of
/// `qemu_ports::stop`.
///
/// Needs `/dev/mem`, with the boot parameter `iomem=relaxed`. Without it the machine stops all the
/// same, and the host has to check the ticks.
#[expect(clippy::disallowed_methods, reason = "there is no job yet")]
pub fn stop() -> u64 {
    qemu_ports::silence_alarm();
    thread::sleep(LEFT_OVERS);
    if let Some(timer) = EventTimer::open() {
        timer.silence();
    }
    match LocalTimer::open() {
        Some(timer) => timer.paused(qemu_ports::stop),
        None => qemu_ports::stop(),
    }
}

/// The HPET. Kernels let it interrupt at boot, until they have the processor's timer. QEMU 10 keeps
/// it running after that, each tick and without any user; QEMU 7.2 does not.
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

    /// Whether one of its timers interrupts.
    fn interrupts(&self) -> bool {
        let last = ((self.registers.read(CAPABILITIES) >> 8) & 0x1f) as usize;
        (0..=last)
            .map(|number| FIRST_TIMER + number * NEXT_TIMER)
            .any(|timer| self.registers.read(timer) & INTERRUPTS != 0)
    }
}

/// Whether the kernel reads the time from the HPET, or its clock source is unknown.
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

    /// Carries out `action` while the timer is stopped.
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
    /// Maps the page at a physical address.
    fn open(place: u64) -> Option<Self> {
        let memory = File::options().read(true).write(true).open("/dev/mem").ok()?;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping of a page of device registers, to which nothing else here refers.
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
