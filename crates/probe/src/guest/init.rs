//! Process 1 of a guest: brings the system up, does the job, ends the machine.

use std::ffi::c_int;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::panic;

use hardcost_linux::daemon::{Daemon, audit_is_absent};
use rustix::mount::{MountFlags, mount};
use rustix::net::{AddressFamily, SocketType, socket};
use rustix::process::{getpid, set_child_subreaper, umask};

use crate::ascii::write_line;
use crate::bootline::{BootLine, Init};
use crate::error::{Context, Result};
use crate::farewell::{end, fail, open_line};
use crate::line::{Line, keep_job};
use crate::place::Place;
use crate::protocol::Answer;
use crate::root;
use crate::session::Session;
use crate::spinner::Spinner;
use crate::systemd;

/// How many serial numbers of audit records have fewer than four digits.
const SHORT_SERIALS: u32 = 1000;

/// Runs the guest from start to end; does not come back.
pub fn run() -> c_int {
    carried_out(run_job)
}

/// Does the job in a system that systemd has started; does not come back.
pub fn run_as_service() -> c_int {
    carried_out(|| {
        // Processes whose parent has gone are ours, as those of process 1 are.
        set_child_subreaper(Some(getpid())).context(|| "adopting orphans".into())?;
        let line = open_line(&BootLine::read())?;
        do_job(line, None, None)
    })
}

fn carried_out(job: impl FnOnce() -> Result<()>) -> c_int {
    panic::set_hook(Box::new(|panic| {
        fail(format!("the probe has a fault: {panic}"));
        end()
    }));
    if let Err(error) = job() {
        fail(error.to_string());
    }
    end()
}

fn run_job() -> Result<()> {
    // A failure of these is reported once somebody can hear it.
    let prepared =
        mount_all().and_then(|()| open_standard_streams().context(|| "/dev/null".into()));
    let boot_line = BootLine::read();
    let line = open_line(&boot_line)?;
    prepared?;
    keep_job().context(|| "keeping the job".into())?;
    raise_loopback().context(|| "bringing up the loopback device".into())?;
    // Only an idle processor can stop for a snapshot.
    let mut spinner = None;
    if boot_line.spins && !boot_line.stops_for_snapshot {
        spinner = Some(Spinner::start()?);
    }
    root::enter(&boot_line)?;
    if boot_line.spins && boot_line.init != Init::Systemd {
        use_up_short_serials().context(|| "audit records before the job".into())?;
    }
    let gap = boot_line.stops_for_snapshot.then(|| stop(line)).transpose()?;
    if boot_line.root.is_some() {
        root::open_for_writing()?;
    }
    if boot_line.spins && boot_line.stops_for_snapshot {
        spinner = Some(Spinner::start()?);
    }
    if boot_line.init == Init::Systemd {
        return systemd::hand_over();
    }
    // Services wait for each other while they are measured, too.
    do_job(line, gap, spinner.filter(|_| !boot_line.runs_services()))
}

fn do_job(line: &'static Line, gap: Option<u64>, spinner: Option<Spinner>) -> Result<()> {
    let mut session = Session::new(Place::Guest, Box::new(line)).beside(spinner);
    session.hello(gap)?;
    let job = line.job()?;
    session.run(job.split(|&byte| byte == b'\n').map(|line| Ok(line.to_vec()))).map(drop)
}

/// Mounts what programs expect to find; up to the first that fails.
fn mount_all() -> Result<()> {
    umask(0o022.into());
    for (kind, target, options) in [
        ("proc", "/proc", c""),
        ("sysfs", "/sys", c""),
        ("devtmpfs", "/dev", c"mode=0755"),
        ("tmpfs", "/tmp", c"mode=1777"),
        ("tmpfs", "/run", c"mode=0755"),
    ] {
        fs::create_dir_all(target).context(|| target.into())?;
        mount(kind, target, kind, MountFlags::empty(), options)
            .context(|| format!("mounting {target}"))?;
    }
    // There only if the kernel has security modules.
    let _ = mount("securityfs", "/sys/kernel/security", "securityfs", MountFlags::empty(), c"");
    Ok(())
}

/// Makes sure that descriptors 0 to 2 are open: an initramfs need not have a console, and what
/// is opened next must not become somebody's standard output.
fn open_standard_streams() -> io::Result<()> {
    loop {
        let null = File::options().read(true).write(true).open("/dev/null")?;
        if null.as_raw_fd() > 2 {
            return Ok(());
        }
        std::mem::forget(null);
    }
}

/// Brings the loopback device up, which gives it its addresses.
fn raise_loopback() -> io::Result<()> {
    let any = socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    // SAFETY: all zeroes is a valid request.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (slot, byte) in request.ifr_name.iter_mut().zip(*b"lo") {
        *slot = i8::from_ne_bytes([byte]);
    }
    request.ifr_ifru.ifru_flags = libc::IFF_UP.try_into().map_err(io::Error::other)?;
    // SAFETY: reads the request alone.
    match unsafe { libc::ioctl(any.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Lets the kernel's audit records begin at 1000, if it makes any.
///
/// A record's serial number costs some 20 instructions a digit. Beginning at 1, it would get longer
/// while a job runs, at a call that depends on how many records came before.
fn use_up_short_serials() -> io::Result<()> {
    match Daemon::open().and_then(|mut daemon| daemon.use_up_serials(SHORT_SERIALS)) {
        Err(error) if audit_is_absent(&error) => Ok(()),
        outcome => outcome,
    }
}

/// Says so and stops the machine for a snapshot; the ticks that this took.
fn stop(mut line: &Line) -> Result<u64> {
    write_line(&mut line, &Answer::Ready).context(|| "telling the host".into())?;
    line.stop()
}
