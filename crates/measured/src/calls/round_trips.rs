//! Round trips between two processes.

use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering};

use rustix::fd::{AsRawFd, OwnedFd};
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use crate::call::{Call, CallSetup};
use crate::calls::partner_process::PartnerProcess;
use crate::raw_syscalls::{Fault, expect_bytes, syscall, word};

/// Reads one byte.
#[inline]
fn receive(from: &impl AsRawFd) -> Result<(), Fault> {
    let mut byte = 0_u8;
    let arguments = [word(from.as_raw_fd()), &raw mut byte as usize, 1];
    // SAFETY: writes to `byte` alone.
    expect_bytes(unsafe { syscall(libc::SYS_read, arguments) }?, 1)
}

/// Writes one byte.
#[inline]
fn send(to: &impl AsRawFd) -> Result<(), Fault> {
    let byte = 0_u8;
    let arguments = [word(to.as_raw_fd()), &raw const byte as usize, 1];
    // SAFETY: reads `byte` alone.
    expect_bytes(unsafe { syscall(libc::SYS_write, arguments) }?, 1)
}

/// `pipe`: a byte to another process over one pipe and back over another; two writes, two reads
/// and two switches between processes.
pub struct Pipe {
    there: OwnedFd,
    back: OwnedFd,
    _partner: PartnerProcess,
}

impl Call for Pipe {
    fn prepare(_: &CallSetup) -> Result<Self, Fault> {
        let (far_in, there) = rustix::pipe::pipe()?;
        let (back, far_out) = rustix::pipe::pipe()?;
        let partner = PartnerProcess::start(|| {
            receive(&far_in)?;
            send(&far_out)
        })?;
        Ok(Self { there, back, _partner: partner })
    }

    #[inline]
    fn operate(&mut self) -> Result<(), Fault> {
        send(&self.there)?;
        receive(&self.back)
    }
}

/// `unix`: the same over a pair of connected stream sockets.
pub struct Unix {
    near: OwnedFd,
    _partner: PartnerProcess,
}

impl Call for Unix {
    fn prepare(_: &CallSetup) -> Result<Self, Fault> {
        let (near, far) =
            socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        let partner = PartnerProcess::start(|| {
            receive(&far)?;
            send(&far)
        })?;
        Ok(Self { near, _partner: partner })
    }

    #[inline]
    fn operate(&mut self) -> Result<(), Fault> {
        send(&self.near)?;
        receive(&self.near)
    }
}

/// `context-switch`: a full round trip, which is two switches, between two processes that hand
/// over a turn by futex; each wakes the other and waits.
pub struct ContextSwitch {
    turn: &'static AtomicU32,
    _partner: PartnerProcess,
}

const NEAR: u32 = 0;
const FAR: u32 = 1;

impl Call for ContextSwitch {
    fn prepare(_: &CallSetup) -> Result<Self, Fault> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping, zeroed, large enough and aligned, and never unmapped.
        let turn: &'static AtomicU32 = unsafe {
            let start = mmap_anonymous(ptr::null_mut(), 4096, protection, MapFlags::SHARED)?;
            AtomicU32::from_ptr(start.cast())
        };
        let partner = PartnerProcess::start(|| {
            await_turn(turn, FAR)?;
            hand_over(turn, NEAR)
        })?;
        Ok(Self { turn, _partner: partner })
    }

    #[inline]
    fn operate(&mut self) -> Result<(), Fault> {
        hand_over(self.turn, FAR)?;
        await_turn(self.turn, NEAR)
    }
}

/// Gives the turn to the other process.
#[inline]
fn hand_over(turn: &AtomicU32, next: u32) -> Result<(), Fault> {
    turn.store(next, Ordering::Release);
    let arguments = [turn.as_ptr() as usize, word(libc::FUTEX_WAKE), 1];
    // SAFETY: takes the address of `turn` and touches no memory.
    unsafe { syscall(libc::SYS_futex, arguments) }.map(drop)
}

/// Waits for the own turn.
#[inline]
fn await_turn(turn: &AtomicU32, own: u32) -> Result<(), Fault> {
    loop {
        let present = turn.load(Ordering::Acquire);
        if present == own {
            return Ok(());
        }
        let arguments = [turn.as_ptr() as usize, word(libc::FUTEX_WAIT), present as usize, 0];
        // SAFETY: reads `turn` alone; without a time limit there is nothing else to read.
        match unsafe { syscall(libc::SYS_futex, arguments) } {
            Ok(_) | Err(Fault::Errno(libc::EAGAIN | libc::EINTR)) => {}
            Err(fault) => return Err(fault),
        }
    }
}
