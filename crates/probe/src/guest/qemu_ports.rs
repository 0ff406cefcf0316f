//! QEMU's devices at I/O ports. All of them answer within the instruction: nothing here may cause
//! an interrupt, or depend on the host's time.

use std::arch::asm;
use std::io::{self, Write};

/// `-device isa-debugcon`: each byte goes to a file of the host.
const DEBUG_CONSOLE: u16 = 0xe9;
/// `-device isa-debug-exit`: ends QEMU.
const DEBUG_EXIT: u16 = 0xf4;
/// `-device pvpanic`: with `-action panic=pause` it stops the machine.
const PVPANIC: u16 = 0x505;
/// The real-time clock: register number, and register content.
const CLOCK_REGISTER: u16 = 0x70;
const CLOCK_CONTENT: u16 = 0x71;
/// Selects an item of the firmware configuration.
const FW_CFG_SELECTOR: u16 = 0x510;

/// The ports that the probe uses, as first port and count.
const RANGES: [(u16, u16); 5] =
    [(DEBUG_CONSOLE, 1), (DEBUG_EXIT, 1), (PVPANIC, 1), (FW_CFG_SELECTOR, 2), (CLOCK_REGISTER, 2)];

/// Lets this process, and those it forks, use the ports.
pub fn acquire() -> io::Result<()> {
    permit(true)
}

/// Gives the ports up. The process need not have them.
pub fn release() {
    // May fail without the ports, or where the kernel lacks the call.
    let _ = permit(false);
}

fn permit(allowed: bool) -> io::Result<()> {
    for (first, count) in RANGES {
        // SAFETY: touches no memory; only the functions below use the ports.
        if unsafe { libc::ioperm(first.into(), count.into(), allowed.into()) } != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

fn write_byte(port: u16, value: u8) {
    // SAFETY: the devices at the ports of this module touch no memory of this process.
    unsafe { asm!("out dx, al", in("dx") port, in("al") value, options(nostack, preserves_flags)) }
}

/// The debug console.
pub struct DebugConsole;

impl Write for DebugConsole {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for &byte in bytes {
            write_byte(DEBUG_CONSOLE, byte);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The ports of the firmware configuration.
pub struct FwCfgPorts;

impl crate::guest::fw_cfg::Ports for FwCfgPorts {
    fn select(&mut self, item: u16) {
        // SAFETY: as for `write_byte`.
        unsafe {
            asm!("out dx, ax", in("dx") FW_CFG_SELECTOR, in("ax") item, options(nostack, preserves_flags));
        }
    }

    fn next_byte(&mut self) -> u8 {
        let byte: u8;
        // SAFETY: as for `write_byte`.
        unsafe {
            asm!("in al, dx", in("dx") FW_CFG_SELECTOR + 1, out("al") byte, options(nostack, preserves_flags));
        }
        byte
    }
}

/// Sets the real-time clock's alarm to every second. It goes off once, unnoticed since its
/// interrupt is off, and is not set again until the kernel asks for it.
pub fn silence_alarm() {
    const EVERY: u8 = 0xff;
    const ALARM_SECONDS_MINUTES_HOURS: [u8; 3] = [1, 3, 5];
    for register in ALARM_SECONDS_MINUTES_HOURS {
        write_byte(CLOCK_REGISTER, register);
        write_byte(CLOCK_CONTENT, EVERY);
    }
}

/// Stops the machine until the host resumes it. Returns the ticks of the time-stamp counter that
/// passed for the guest: always the same small number, unless QEMU advanced the clock during the
/// stop.
pub fn stop() -> u64 {
    let (low, high): (u32, u32);
    let start: u64;
    // SAFETY: as for `write_byte`. The few moves between the readings are needed since both
    // readings and the port use the same registers.
    unsafe {
        asm!(
            "rdtsc",
            "mov {low:e}, eax",
            "mov {high:e}, edx",
            "mov edx, {port}",
            "mov al, 1",
            "out dx, al",
            "rdtsc",
            "shl {high}, 32",
            "or {low}, {high}",
            low = out(reg) start,
            high = out(reg) _,
            port = const PVPANIC,
            out("eax") low,
            out("edx") high,
            options(nostack),
        );
    }
    ((u64::from(high) << 32) | u64::from(low)).wrapping_sub(start)
}

/// Ends QEMU.
pub fn exit() {
    write_byte(DEBUG_EXIT, 0);
}
