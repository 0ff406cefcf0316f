//! How a guest talks with the host: through QEMU's ports, or by a serial line where the kernel
//! refuses the ports, as one that is locked down does. The host then puts the job into the
//! initramfs, which takes neither a port nor a driver; or the kernel has it as a file of its own.
//!
//! The ports are better: QEMU serves them within the instruction, with no interrupt. What goes by
//! the serial line has left it when a write is over, so that it disturbs nothing that comes after.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;

use rustix::system::{RebootCommand, reboot};
use rustix::termios::{ControlModes, OptionalActions, tcdrain, tcgetattr, tcsetattr};

use crate::bootline::BootLine;
use crate::error::{Context, Error, Result};
use crate::fw_cfg;
use crate::ports::{self, DebugConsole, FwCfgPorts};
use crate::standstill;

/// The job's name in QEMU's `-fw_cfg name=…`.
const JOB: &str = "opt/hardcost/job";
/// The same in the initramfs, where the kernel line says that the ports will be refused.
const PACKED_JOB: &str = "/hardcost.job";
/// The same where services run, whose root is another; `/run` is moved along.
const KEPT_JOB: &str = "/run/hardcost.job";
/// The same as a file of the kernel's; without ACPI it needs `qemu_fw_cfg.ioport=…` to find QEMU.
const JOB_FILE: &str = "/sys/firmware/qemu_fw_cfg/by_name/opt/hardcost/job/raw";
/// The guest's second serial port; the first is the console.
const SERIAL: &str = "/dev/ttyS1";
/// In bits a second: the most that a serial port of this kind has, so that draining it is short.
const SPEED: u32 = 115_200;

/// The connection to the host.
pub struct Line {
    /// Whether we may use the ports.
    ports: bool,
    /// Where answers go instead of the debug console.
    serial: Option<File>,
}

impl Line {
    /// Opens the connection; needs `/dev`.
    pub fn open(boot_line: &BootLine) -> Result<Self> {
        let wanted = boot_line.stops_for_snapshot || !boot_line.by_serial;
        let ports = wanted && ports::acquire().is_ok();
        let serial = boot_line.by_serial || !ports;
        let serial = serial.then(|| open_serial(SERIAL).context(|| SERIAL.into())).transpose()?;
        Ok(Self { ports, serial })
    }

    /// Stops the machine for a snapshot; the ticks of the time-stamp counter that this took.
    pub fn stop(&self) -> Result<u64> {
        if self.ports {
            Ok(standstill::stop())
        } else {
            let message = "this kernel refuses the I/O ports, by which a guest stops";
            Err(Error::Other(message.into()))
        }
    }

    /// The job, whole.
    pub fn job(&self) -> Result<Vec<u8>> {
        if self.ports {
            fw_cfg::read_file(&mut FwCfgPorts, JOB)
                .ok_or_else(|| Error::Other(format!("QEMU was given no file {JOB}")))
        } else if let Ok(job) = fs::read(KEPT_JOB) {
            Ok(job)
        } else {
            fs::read(JOB_FILE).context(|| JOB_FILE.into())
        }
    }

    /// Ends the machine; comes back only if no way works.
    pub fn end(&self) {
        if self.ports {
            ports::exit();
        }
        end_without_line();
    }
}

impl Write for &Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &self.serial {
            Some(serial) => (&mut &*serial).write(bytes),
            None => DebugConsole.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.serial.as_ref().map_or(Ok(()), |serial| Ok(tcdrain(serial)?))
    }
}

/// Keeps a job that came in the initramfs where it stays when the root is changed; needs `/run`.
pub fn keep_job() -> io::Result<()> {
    match fs::copy(PACKED_JOB, KEPT_JOB) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        copied => copied.map(drop),
    }
}

/// Ends the machine as any process 1 can: QEMU is told not to start again.
pub fn end_without_line() {
    let _ = reboot(RebootCommand::Restart);
}

/// The serial port, as a line that carries bytes as they are.
fn open_serial(path: &str) -> io::Result<File> {
    let file = File::options().read(true).write(true).custom_flags(libc::O_NOCTTY).open(path)?;
    let mut settings = tcgetattr(&file)?;
    settings.make_raw();
    // No one else is there who could hang up.
    settings.control_modes |= ControlModes::CLOCAL;
    settings.set_speed(SPEED)?;
    tcsetattr(&file, OptionalActions::Now, &settings)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{Read, Write};

    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    use super::{Line, open_serial};

    #[test]
    fn bytes_leave_by_a_serial_line_as_they_are() {
        let far = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&far).expect("ours");
        unlockpt(&far).expect("ours");
        let path = ptsname(&far, Vec::new()).expect("a name");
        let near = open_serial(path.to_str().expect("ASCII")).expect("opened");
        let line = Line { ports: false, serial: Some(near) };
        let sent = b"{}\n\x04\x03\r\xff\t";
        (&line).write_all(sent).expect("room");
        (&line).flush().expect("drained");
        let mut received = [0; 8];
        File::from(far).read_exact(&mut received).expect("all of it");
        assert_eq!(&received, sent);
    }

    #[test]
    fn without_ports_a_guest_cannot_stop() {
        let line = Line { ports: false, serial: None };
        assert!(line.stop().expect_err("refused").to_string().contains("refuses"));
    }
}
