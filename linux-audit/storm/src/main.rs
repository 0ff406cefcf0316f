//! Tries to break the kernel's audit filter: rules come and go, the files that they watch are
//! removed, the policy changes and memory fails, while calls are made on all processors and every
//! record is counted.
//!
//! As process 1 of a guest it is the audit daemon; its child, the supervisor, starts all others.
//! Its reports go to the console, in lines that begin with `storm:`. A line that begins with
//! `storm: FAULT:` is a failure.
//!
//! Outside a guest it does nothing: whatever it does may crash the kernel. No process has a second
//! thread, so that each can fork. No random rule matches a call that is numbered.
//!
//! - `supervisor.rs`: the course of a run: the first rule, rounds, the summary, what is left out
//! - `processes/`: what runs in a round; `kernel/`: the kernel's interfaces for it
//! - `random_rules.rs`: which rules are drawn, and with which fields and calls
//! - `decisions.rs`: what the kernel decides of a fixed set of calls, the same after loading again
//! - `audit_daemon.rs`: which record is a fault: numbered calls in order, others never
//! - `shared_memory.rs`: counts, users and the word that ends a round
//! - `options.rs`: the words `storm.*` of the command line and their defaults
//! - `child.rs`: forks and pauses; `console.rs`: lines for the host; `random.rs`: random numbers
//!
//! The guests that it runs in are started by `linux-audit/bench/stress.py`, which also decides
//! which kernel reports are faults.

mod audit_daemon;
mod child;
mod console;
mod decisions;
mod kernel;
mod options;
mod processes;
mod random;
mod random_rules;
mod shared_memory;
mod supervisor;

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;

use rustix::mount::{MountFlags, mount};

use child::spawn;
use console::say;
use kernel::netlink;
use options::Options;
use shared_memory::Shared;

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
    let supervisor = spawn(move || supervisor::run(shared, &options));
    let ended = || {
        let mut status = 0;
        // SAFETY: writes to `status`. Orphans are this process's children too.
        let ended = unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) };
        if ended == supervisor && status != 0 {
            shared.fault(&format!("the supervisor ended with status {status:#x}"));
        }
        ended == supervisor
    };
    audit_daemon::read(&mut netlink, shared, ended)
}
