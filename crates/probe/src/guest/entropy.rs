//! Random numbers for a guest that has no source of them.
//!
//! The processor's own source is switched off, since runs would differ by it. Without any, the
//! kernel makes its own when the first program asks: for a second it counts how its timer varies.
//! That is a thousand million instructions, which would count for the program that happens to ask
//! first.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use crate::error::{Context, Result};

const SOURCE: &str = "/dev/urandom";
/// `RNDADDENTROPY` of `linux/random.h`.
const ADD: u32 = 0x4008_5203;
/// `RNDRESEEDCRNG`.
const RESEED: u32 = 0x5207;
const TEXT: &[u8; ENOUGH] = b"nothing here is secret: measure.";
/// How many bytes the kernel needs before it gives random numbers.
const ENOUGH: usize = 32;

/// `struct rand_pool_info`.
#[repr(C)]
struct Pool {
    /// How many of its bits count as unpredictable.
    bits: i32,
    bytes: i32,
    content: [u8; ENOUGH],
}

/// Credits a fixed text as random, on top of what the kernel has.
pub fn pretend() -> Result<()> {
    add(*TEXT).map(drop)
}

/// Changes the kernel's random numbers to those of `number`.
pub fn mix(number: u64) -> Result<()> {
    let mut content = *TEXT;
    content[..size_of::<u64>()].copy_from_slice(&number.to_le_bytes());
    let source = add(content)?;
    // SAFETY: it takes no argument.
    let said = unsafe { libc::ioctl(source.as_raw_fd(), RESEED.into()) };
    answer(said).context(|| "renewing the kernel's random numbers".into())
}

/// Credits a text as random.
fn add(content: [u8; ENOUGH]) -> Result<File> {
    let pool = Pool { bits: 256, bytes: 32, content };
    let source = File::open(SOURCE).context(|| SOURCE.into())?;
    // SAFETY: reads as many bytes of the pool as it says.
    let said = unsafe { libc::ioctl(source.as_raw_fd(), ADD.into(), &raw const pool) };
    answer(said).context(|| "giving the kernel random numbers".into()).map(|()| source)
}

fn answer(said: i32) -> io::Result<()> {
    match said {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
