//! The high-precision event timer (HPET) of QEMU, which kernels hardly use.

use std::fs;

use crate::guest::device_registers::Registers;

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
/// In a timer's configuration: it goes off again and again; the next write sets the comparator, too;
/// it compares 32 bits.
const PERIODIC: u32 = 1 << 3;
const SETS_COMPARATOR: u32 = 1 << 6;
const IN_32_BITS: u32 = 1 << 8;
/// The offset of what all timers are compared with, and from a timer's configuration to what it is
/// compared with.
const COUNTER: usize = 0xf0;
const COMPARATOR: usize = 8;
/// In QEMU.
const NANOSECONDS_OF_A_TICK: u32 = 10;

/// The name of the kernel's clock source.
const CLOCK: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

/// The HPET. Kernels let it interrupt at boot, until they have the processor's timer. QEMU 10 keeps
/// it running after that, each tick and without any user; QEMU 7.2 does not.
pub struct EventTimer {
    registers: Registers,
}

impl EventTimer {
    /// It, if there is QEMU's and the kernel lets us.
    pub fn open() -> Option<Self> {
        let registers = Registers::open(HPET)?;
        (registers.read(CAPABILITIES) >> 16 == MAKER).then_some(Self { registers })
    }

    /// Whether the kernel uses it.
    pub fn is_used(&self) -> bool {
        self.interrupts() || is_the_clock()
    }

    /// Stops it for good, unless the kernel uses it.
    pub fn silence(&self) {
        if !self.is_used() {
            self.registers.write(CONFIGURATION, self.registers.read(CONFIGURATION) & !RUNS);
        }
    }

    /// Has a timer that does not interrupt go off each so many nanoseconds. The kernel must not use
    /// the device.
    pub fn tick_unheard(&self, nanoseconds: u32) {
        let registers = &self.registers;
        let running = registers.read(CONFIGURATION) | RUNS;
        registers.write(CONFIGURATION, running & !RUNS);
        registers.write(COUNTER, 0);
        registers.write(COUNTER + size_of::<u32>(), 0);
        // QEMU sets a timer when its comparator is written while the device runs.
        registers.write(CONFIGURATION, running);
        registers.write(FIRST_TIMER, PERIODIC | SETS_COMPARATOR | IN_32_BITS);
        registers.write(FIRST_TIMER + COMPARATOR, nanoseconds / NANOSECONDS_OF_A_TICK);
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
