//! Tries to break the kernel's audit filter: rules come and go, the files that they watch are
//! removed, the policy changes and memory fails, while calls are made on all processors and every
//! record is counted.
//!
//! As process 1 of a guest it is the audit daemon; its child, the director, starts all others.
//! Its reports go to the console, in lines that begin with `storm:`.

mod callers;
mod calls;
mod director;
mod evict;
mod fault;
mod load;
mod netlink;
mod options;
mod policy;
mod races;
mod random;
mod random_rules;
mod reader;
mod record;
mod rule;
mod sentinel;
mod shared;
mod survey;
mod uring;

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;

use rustix::mount::{MountFlags, mount};

use options::Options;
use shared::{Shared, say, spawn};

fn main() {
    if std::process::id() != 1 {
        return; // the program that does nothing
    }
    if let Err(error) = run() {
        say(&format!("FAULT: {error}"));
    }
    say("end");
    // SAFETY: ends the machine.
    unsafe { libc::reboot(libc::RB_AUTOBOOT) };
}

fn run() -> io::Result<()> {
    for (kind, place) in [
        ("devtmpfs", "/dev"),
        ("proc", "/proc"),
        ("sysfs", "/sys"),
        ("debugfs", "/sys/kernel/debug"),
        ("selinuxfs", "/sys/fs/selinux"),
    ] {
        // A kernel without debugging, or without SELinux, lacks some.
        if let Err(error) = mount("none", place, kind, MountFlags::empty(), None) {
            say(&format!("{kind}: {error}"));
        }
    }
    let console = File::options().write(true).open("/dev/console")?;
    // SAFETY: standard error is the console from here on.
    unsafe { libc::dup2(console.as_raw_fd(), 2) };
    let options = Options::parse(&fs::read_to_string("/proc/cmdline")?);
    let shared = Shared::new()?;
    let mut netlink = netlink::open()?;
    netlink::become_daemon(&mut netlink)?;
    let director = spawn(move || director::direct(shared, &options));
    let ended = || {
        let mut status = 0;
        // SAFETY: writes to `status`. Orphans are this process's children too.
        let ended = unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) };
        if ended == director && status != 0 {
            shared.fault(&format!("the director ended with status {status:#x}"));
        }
        ended == director
    };
    reader::read(&mut netlink, shared, ended)
}
