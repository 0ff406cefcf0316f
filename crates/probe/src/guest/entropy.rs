//! Random numbers for a guest that has no source of them.
//!
//! The processor's own is switched off, since it would make runs differ. Without any the kernel
//! makes do when the first program asks: for a second it counts how its timer varies, a thousand
//! million instructions, which would count for whoever happens to ask first.

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
/// What the kernel wants before it gives random numbers, in bytes.
const ENOUGH: usize = 32;

/// `struct rand_pool_info`.
#[repr(C)]
struct Pool {
    /// How much of it nobody can guess, in bits.
    bits: i32,
    bytes: i32,
    content: [u8; ENOUGH],
}

/// Lets the kernel take a fixed text for random, beside what it has mixed in so far.
pub fn pretend() -> Result<()> {
    add(*TEXT).map(drop)
}

/// Has the kernel give other random numbers from here on: those of that number.
pub fn mix(number: u64) -> Result<()> {
    let mut content = *TEXT;
    content[..size_of::<u64>()].copy_from_slice(&number.to_le_bytes());
    let source = add(content)?;
    // SAFETY: it takes no argument.
    let said = unsafe { libc::ioctl(source.as_raw_fd(), RESEED.into()) };
    answer(said).context(|| "renewing the kernel's random numbers".into())
}

/// Lets the kernel take a text for random.
fn add(content: [u8; ENOUGH]) -> Result<File> {
    let pool = Pool { bits: 256, bytes: 32, content };
    let source = File::open(SOURCE).context(|| SOURCE.into())?;
    // SAFETY: reads as much of the pool as it says it holds.
    let said = unsafe { libc::ioctl(source.as_raw_fd(), ADD.into(), &raw const pool) };
    answer(said).context(|| "giving the kernel random numbers".into()).map(|()| source)
}

fn answer(said: i32) -> io::Result<()> {
    match said {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
