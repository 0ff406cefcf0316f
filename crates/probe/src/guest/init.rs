//! Process 1 of a guest: brings the system up, does the job, ends the machine.

use std::ffi::c_int;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::panic;

use rustix::mount::{MountFlags, mount};
use rustix::net::{AddressFamily, SocketType, socket};
use rustix::process::{getpid, set_child_subreaper, umask};

use crate::audit::use_up_short_serials;
use crate::error::{Context, Result};
use crate::guest::boot_parameters::{BootParameters, Init};
use crate::guest::busy_loop::BusyLoop;
use crate::guest::host_connection::{HostConnection, keep_job};
use crate::guest::parallel::processors::Measured;
use crate::guest::shutdown::{end_machine, open_connection, report_failure};
use crate::guest::{root_disk, systemd};
use crate::machine::Machine;
use crate::protocol::Answer;
use crate::protocol::ascii_json::write_line;
use crate::session::Session;

/// Runs the guest from start to end; never returns.
pub fn run() -> c_int {
    run_to_end(run_job)
}

/// Does the job in a system that systemd has started; never returns.
pub fn run_as_service() -> c_int {
    run_to_end(|| {
        // Orphans become children of the probe, as they would of process 1.
        set_child_subreaper(Some(getpid())).context(|| "adopting orphans".into())?;
        let connection = open_connection(&BootParameters::read())?;
        do_job(connection, None, None, None)
    })
}

fn run_to_end(job: impl FnOnce() -> Result<()>) -> c_int {
    panic::set_hook(Box::new(|panic| {
        report_failure(format!("the probe has a fault: {panic}"));
        end_machine()
    }));
    if let Err(error) = job() {
        report_failure(error.to_string());
    }
    end_machine()
}

fn run_job() -> Result<()> {
    // A failure of these is reported once there is a connection.
    let prepared =
        mount_all().and_then(|()| open_standard_streams().context(|| "/dev/null".into()));
    let boot_parameters = BootParameters::read();
    let connection = open_connection(&boot_parameters)?;
    prepared?;
    keep_job().context(|| "keeping the job".into())?;
    raise_loopback().context(|| "bringing up the loopback device".into())?;
    // Only an idle processor can stop for a snapshot.
    let mut busy_loop = None;
    let several = boot_parameters.processors.map(Measured::new).transpose()?;
    if several.is_some() {
        Measured::keep_on_first()?;
    }
    let spins = boot_parameters.spins && several.is_none();
    if spins && !boot_parameters.stops_for_snapshot {
        busy_loop = Some(BusyLoop::start()?);
    }
    root_disk::enter(&boot_parameters)?;
    if boot_parameters.spins && boot_parameters.init != Init::Systemd {
        use_up_short_serials().context(|| "audit records before the job".into())?;
    }
    several.map(Measured::keep_kernel).transpose()?;
    let gap = boot_parameters.stops_for_snapshot.then(|| stop(connection, several.is_some()));
    let gap = gap.transpose()?;
    if boot_parameters.root.is_some() {
        root_disk::open_for_writing()?;
    }
    several.map(Measured::keep_own).transpose()?;
    if spins && boot_parameters.stops_for_snapshot {
        busy_loop = Some(BusyLoop::start()?);
    }
    if boot_parameters.init == Init::Systemd {
        return systemd::hand_over();
    }
    // Services wait for each other while they are measured, too.
    let busy_loop = busy_loop.filter(|_| !boot_parameters.runs_services());
    do_job(connection, gap, busy_loop, several)
}

fn do_job(
    connection: &'static HostConnection,
    gap: Option<u64>,
    busy_loop: Option<BusyLoop>,
    several: Option<Measured>,
) -> Result<()> {
    let session = Session::new(Machine::Guest, Box::new(connection));
    let mut session = session.with_busy_loop(busy_loop).with_several(several);
    session.hello(gap)?;
    let job = connection.job()?;
    session.run(job.split(|&byte| byte == b'\n').map(|request| Ok(request.to_vec()))).map(drop)
}

/// Mounts what programs expect, up to the first failure.
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

/// Opens descriptors 0 to 2 if they are closed: an initramfs may have no console, and the next file
/// that is opened must not become a program's standard output.
fn open_standard_streams() -> io::Result<()> {
    loop {
        let null = File::options().read(true).write(true).open("/dev/null")?;
        if null.as_raw_fd() > 2 {
            return Ok(());
        }
        std::mem::forget(null);
    }
}

/// Brings the loopback device up; the kernel then gives it its addresses.
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

/// Announces the stop, and stops the machine for a snapshot. Returns ticks: few, unless something
/// came between.
fn stop(mut connection: &HostConnection, several: bool) -> Result<u64> {
    write_line(&mut connection, &Answer::Ready).context(|| "writing to the host".into())?;
    connection.stop(several)
}
