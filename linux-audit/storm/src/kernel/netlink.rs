//! Netlink sockets to the kernel's audit subsystem, with room and time for a slow kernel.

use std::io;
use std::time::Duration;

use hardcost_linux::netlink::Setting;
pub use hardcost_linux::netlink::{IN_FRONT, Netlink, RULE, SYSCALL};

/// The size of the kernel's buffer for us, in bytes.
const ROOM: usize = 64 << 20;
const BACKLOG: u32 = 1 << 17;
/// How long the kernel may take to answer: waiting for readers is slow with all checkers on.
const PATIENT_FOR: Duration = Duration::from_secs(300);

pub fn open() -> io::Result<Netlink> {
    Ok(Netlink::open(ROOM)?.patient_for(PATIENT_FOR))
}

/// Turns audit on with this process, and this socket, as the daemon.
pub fn become_daemon(netlink: &mut Netlink) -> io::Result<()> {
    netlink.enable(&Setting { daemon: Some(std::process::id()), backlog_limit: BACKLOG })
}

/// The number of records lost since the start.
pub fn lost(netlink: &mut Netlink) -> io::Result<u32> {
    netlink.status().map(|status| status.lost)
}
