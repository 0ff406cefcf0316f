//! A guest's connection to the host: QEMU's I/O ports, or a serial port where the kernel refuses
//! these, as a locked-down one does. The host then puts the job into the initramfs, which needs
//! neither port nor driver; or the kernel shows it as a file.
//!
//! The ports are better: QEMU serves them within the instruction, without an interrupt. A write to
//! the serial port returns once all bytes have left it, so that it disturbs nothing later.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;

use rustix::system::{RebootCommand, reboot};
use rustix::termios::{ControlModes, OptionalActions, tcdrain, tcgetattr, tcsetattr};

use crate::error::{Context, Error, Result};
use crate::guest::boot_parameters::BootParameters;
use crate::guest::qemu_ports::{self, DebugConsole, FwCfgPorts};
use crate::guest::{fw_cfg, snapshot_stop};

/// The job's name in QEMU's `-fw_cfg name=…`.
const JOB: &str = "opt/hardcost/job";
/// The same in the initramfs, if the boot parameters say that the ports will be refused.
const PACKED_JOB: &str = "/hardcost.job";
/// The same in a guest of services, whose root is another; `/run` is moved there.
const KEPT_JOB: &str = "/run/hardcost.job";
/// The same as a file of the kernel; without ACPI it needs `qemu_fw_cfg.ioport=…` to find QEMU.
const JOB_FILE: &str = "/sys/firmware/qemu_fw_cfg/by_name/opt/hardcost/job/raw";
/// The guest's second serial port; the first is the console.
const SERIAL: &str = "/dev/ttyS1";
/// In bits a second: the most that such a port has, so that draining it is short.
const SPEED: u32 = 115_200;

/// The connection to the host.
pub struct HostConnection {
    /// Whether the kernel allows the I/O ports.
    ports: bool,
    /// Replaces the debug console for answers.
    serial: Option<File>,
}

impl HostConnection {
    /// Opens the connection. Needs `/dev`.
    pub fn open(boot_parameters: &BootParameters) -> Result<Self> {
        let wanted = boot_parameters.stops_for_snapshot || !boot_parameters.by_serial;
        let ports = wanted && qemu_ports::acquire().is_ok();
        let serial = boot_parameters.by_serial || !ports;
        let serial = serial.then(|| open_serial(SERIAL).context(|| SERIAL.into())).transpose()?;
        Ok(Self { ports, serial })
    }

    /// Stops the machine, of `several` processors or of one, for a snapshot. Returns ticks of the
    /// time-stamp counter: few, unless something came between.
    pub fn stop(&self, several: bool) -> Result<u64> {
        if !self.ports {
            let message = "this kernel refuses the I/O ports, by which a guest stops";
            return Err(Error::Other(message.into()));
        }
        if several { snapshot_stop::stop_one_of_several() } else { Ok(snapshot_stop::stop()) }
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

    /// Ends the machine; returns only if no way works.
    pub fn end(&self) {
        if self.ports {
            qemu_ports::exit();
        }
        restart();
    }
}

impl Write for &HostConnection {
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

/// Keeps a job from the initramfs across the change of root. Needs `/run`.
pub fn keep_job() -> io::Result<()> {
    match fs::copy(PACKED_JOB, KEPT_JOB) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        copied => copied.map(drop),
    }
}

/// Ends the machine as any process 1 can: QEMU is set not to start again.
pub fn restart() {
    let _ = reboot(RebootCommand::Restart);
}

/// Opens the serial port in raw mode.
fn open_serial(path: &str) -> io::Result<File> {
    let file = File::options().read(true).write(true).custom_flags(libc::O_NOCTTY).open(path)?;
    let mut settings = tcgetattr(&file)?;
    settings.make_raw();
    // The other end never hangs up.
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

    use super::{HostConnection, open_serial};

    #[test]
    fn bytes_leave_by_a_serial_line_as_they_are() {
        let far = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&far).expect("ours");
        unlockpt(&far).expect("ours");
        let path = ptsname(&far, Vec::new()).expect("a name");
        let near = open_serial(path.to_str().expect("ASCII")).expect("opened");
        let connection = HostConnection { ports: false, serial: Some(near) };
        let sent = b"{}\n\x04\x03\r\xff\t";
        (&connection).write_all(sent).expect("room");
        (&connection).flush().expect("drained");
        let mut received = [0; 8];
        File::from(far).read_exact(&mut received).expect("all of it");
        assert_eq!(&received, sent);
    }

    #[test]
    fn without_ports_a_guest_cannot_stop() {
        let connection = HostConnection { ports: false, serial: None };
        assert!(connection.stop(false).expect_err("refused").to_string().contains("refuses"));
    }
}
