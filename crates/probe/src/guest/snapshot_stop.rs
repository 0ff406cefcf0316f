//! Stopping a guest for its snapshot so that every stop takes the same time: with all timers
//! silenced, or on several processors with one that makes the difference small.
//!
//! When the guest stops itself under QEMU's instruction counter, QEMU may treat the processor as
//! idle and advance the clock to the next timer; whether it does depends on chance. Without a timer
//! there is nothing to advance to. Of a guest's devices here four have timers: the alarm of the
//! real-time clock, what firmware and kernel have started and never use again, the high-precision
//! event timer (HPET), and the processor's own timer, which drives the kernel's tick.

use std::thread;
use std::time::Duration;

use hardcost_measured::clock::{Clock, Tsc};

use crate::error::{Error, Result};
use crate::guest::device_registers::Registers;
use crate::guest::event_timer::EventTimer;
use crate::guest::parallel::moment::go_on_at;
use crate::guest::parallel::turns;
use crate::guest::qemu_ports;

/// The physical address of the processor's timer (the local APIC), and the offsets of its
/// registers. Source: Intel's Software Developer's Manual, volume 3, chapter "APIC".
const LOCAL_APIC: u64 = 0xfee0_0000;
const TIMER_MODE: usize = 0x320;
const INITIAL_COUNT: usize = 0x380;
const CURRENT_COUNT: usize = 0x390;
/// Bits of the mode: masked, periodic, deadline. None is set in the one mode that can be resumed.
const NOT_ONE_SHOT: u32 = 0b111 << 16;
/// With so many counts left the timer can't go off between two of these instructions.
const SAFE_COUNT: u32 = 2000;

/// By then the unused timers have gone off for the last time: the alarm of the real-time clock
/// within a second, the others before. In the guest's time, which passes at once in an idle guest.
const LEFT_OVERS: Duration = Duration::from_millis(2500);

/// How far QEMU can advance the clock of several processors in one go, in nanoseconds.
const STEP: u32 = 100_000;
/// From a tick of the kernel's to the stop: what the tick woke on other processors is done by then.
const AFTER_TICK: u64 = 400_000;
/// From the stop to the moment at which the guest goes on: QEMU can advance the clock eight times.
const PAUSE: u64 = 800_000;
/// How long the guest is idle after that.
const IDLE: Duration = Duration::from_millis(20);

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

/// Stops a machine of several processors. Returns the ticks that others used up before it went on:
/// 0, unless one had something to do, and `u64::MAX` if it went on too late.
///
/// This processor can't silence the timers of the others, so QEMU may advance the clock all the
/// same. Whether it does makes no difference:
///
/// - A device's timer, which interrupts no one, goes off before any of theirs. So the clock advances
///   by one or a few of its steps. Theirs go off with the kernel's ticks, and the stop lies between
///   two ticks.
/// - The guest goes on at a moment that was set before the stop, and lies behind those steps.
/// - Then it is idle for a while, since QEMU sets a timer of its own when a machine goes on, and
///   sets it again after all processors were idle.
#[expect(clippy::disallowed_methods, reason = "there is no job yet")]
pub fn stop_one_of_several() -> Result<u64> {
    qemu_ports::silence_alarm();
    thread::sleep(LEFT_OVERS);
    let timer = LocalTimer::open()
        .ok_or_else(|| Error::Other("the processor's timer can't be stopped".into()))?;
    // Once for nothing: the first time, the kernel maps the code.
    go_on_at(Tsc::now());
    timer.await_tick();
    go_on_at(Tsc::now() + AFTER_TICK);
    turns::shorten(STEP)?;
    let others = timer.paused(|| {
        let moment = Tsc::now() + PAUSE;
        qemu_ports::stop();
        go_on_at(moment)
    });
    turns::lengthen();
    thread::sleep(IDLE);
    Ok(others.unwrap_or(u64::MAX))
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

    /// Returns once it has gone off.
    fn await_tick(&self) {
        let mut left = self.registers.read(CURRENT_COUNT);
        loop {
            let now = self.registers.read(CURRENT_COUNT);
            if now > left {
                return;
            }
            left = now;
        }
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
