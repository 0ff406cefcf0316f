//! Process 1 of a guest: brings the system up, does the job, ends the machine.

use std::ffi::c_int;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::panic;

use rustix::mount::{MountFlags, mount};
use rustix::net::{AddressFamily, SocketType, socket};
use rustix::process::umask;
use rustix::system::{RebootCommand, reboot};

use crate::ascii::write_line;
use crate::error::{Context, Error, Result};
use crate::fw_cfg;
use crate::ports::{self, DebugConsole, FwCfgPorts};
use crate::protocol::Answer;
use crate::session::{Place, Session};
use crate::standstill;

/// The job's name in QEMU's `-fw_cfg name=…`.
const JOB: &str = "opt/hardcost/job";
/// The word of the kernel's command line that asks for a stop before the job is read.
const SNAPSHOT: &str = "hardcost.snapshot";

/// Runs the guest from start to end; does not come back.
pub fn run() -> c_int {
    panic::set_hook(Box::new(|panic| {
        fail(format!("the probe has a fault: {panic}"));
        end()
    }));
    if let Err(error) = run_job() {
        fail(error.to_string());
        let _ = write_line(&mut DebugConsole, &Answer::End);
    }
    end()
}

/// Reports what is not one request's failure.
fn fail(message: String) {
    let _ = write_line(&mut DebugConsole, &Answer::Error { request: None, message });
}

fn run_job() -> Result<()> {
    // First, since without the ports nobody would hear of a failure.
    ports::acquire().context(|| "use of the I/O ports".into())?;
    mount_all()?;
    open_standard_streams().context(|| "/dev/null".into())?;
    raise_loopback().context(|| "bringing up the loopback device".into())?;
    let gap = stop_if_asked()?;
    let mut session = Session::new(Place::Guest, Box::new(DebugConsole));
    session.hello(gap)?;
    let job = fw_cfg::read_file(&mut FwCfgPorts, JOB)
        .ok_or_else(|| Error::Other(format!("QEMU was given no file {JOB}")))?;
    session.run(job.split(|&byte| byte == b'\n').map(|line| Ok(line.to_vec()))).map(drop)
}

/// Mounts what programs expect to find.
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

/// Stops the machine for a snapshot if the boot line says so; the ticks that this took.
fn stop_if_asked() -> Result<Option<u64>> {
    let boot_line = fs::read_to_string("/proc/cmdline").context(|| "/proc/cmdline".into())?;
    if !boot_line.split_whitespace().any(|word| word == SNAPSHOT) {
        return Ok(None);
    }
    write_line(&mut DebugConsole, &Answer::Ready).context(|| "debug console".into())?;
    Ok(Some(standstill::stop()))
}

/// Ends the machine, in the first of three ways that works.
fn end() -> ! {
    ports::exit();
    let _ = reboot(RebootCommand::Restart);
    loop {
        // SAFETY: touches no memory.
        unsafe { libc::pause() };
    }
}
