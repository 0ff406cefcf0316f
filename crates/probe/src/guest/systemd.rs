//! Handing the guest over to systemd, which starts the whole system and then the probe as a
//! service.
//!
//! Units that jobs start themselves are masked, so that a job finds the same system without
//! systemd.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use crate::error::{Context, Error, Result};
use crate::processes::measured_program;

/// The verb with which the unit calls the probe.
pub const VERB: &str = "service";

const INIT: &str = "/sbin/init";
/// Units here end with the guest, and override those of packages.
const UNITS: &str = "/run/systemd/system";
const PROBE: &str = "/run/hardcost/probe";
/// Where the probe looks for the measured program as a service.
const MEASURED: &str = "/run/hardcost/hardcost-measured";
/// Units that jobs start themselves.
const MASKED: [&str; 19] = [
    "apache2.service",
    "apache-htcacheclean.service",
    "auditd.service",
    "clamav-clamonacc.service",
    "clamav-daemon.service",
    "clamav-daemon.socket",
    "clamav-freshclam.service",
    "clamav-freshclam-once.timer",
    "fapolicyd.service",
    "mariadb.service",
    "mariadb.socket",
    "mariadb-extra.socket",
    "mysql.service",
    "mysqld.service",
    "postfix.service",
    "postfix@-.service",
    "postfix-resolvconf.path",
    "rsyslog.service",
    "syslog.socket",
];
/// The boot target: everything that the system starts by itself, then the job.
const TARGET: &str = "hardcost.target";
const TARGET_UNIT: &str = "\
[Unit]
Description=The system, and a job in it
Requires=multi-user.target
Wants=hardcost.service
After=multi-user.target
";
const SERVICE: &str = "hardcost.service";
const SERVICE_UNIT: &str = "\
[Unit]
Description=A job
DefaultDependencies=no
After=multi-user.target
[Service]
ExecStart=/run/hardcost/probe service
StandardInput=null
StandardOutput=null
StandardError=kmsg
TasksMax=infinity
LimitNOFILE=1048576
Delegate=yes
KillMode=process
";

/// Executes systemd as process 1; returns only with an error.
pub fn hand_over() -> Result<()> {
    if !Path::new(INIT).exists() {
        return Err(Error::Other(format!("the image has no {INIT} that could start the system")));
    }
    let measured = measured_program::path()?;
    prepare(&measured).context(|| "preparing the probe as a service".into())?;
    let target = format!("--unit={TARGET}");
    Err(Command::new(INIT).arg(target).env_clear().exec()).context(|| format!("starting {INIT}"))
}

fn prepare(measured: &str) -> io::Result<()> {
    fs::copy("/proc/self/exe", PROBE)?;
    fs::copy(measured, MEASURED)?;
    fs::create_dir_all(UNITS)?;
    fs::write(format!("{UNITS}/{TARGET}"), TARGET_UNIT)?;
    fs::write(format!("{UNITS}/{SERVICE}"), SERVICE_UNIT)?;
    for name in MASKED {
        symlink("/dev/null", format!("{UNITS}/{name}"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{MEASURED, PROBE, SERVICE, SERVICE_UNIT, TARGET_UNIT, VERB};
    use crate::processes::measured_program;

    #[test]
    fn the_service_finds_the_measured_program_beside_itself() {
        assert_eq!(Path::new(PROBE).with_file_name(measured_program::NAME), Path::new(MEASURED));
    }

    #[test]
    fn the_units_start_the_probe_after_all_else() {
        assert!(SERVICE_UNIT.contains(&format!("\nExecStart={PROBE} {VERB}\n")));
        assert!(TARGET_UNIT.contains(&format!("\nWants={SERVICE}\n")));
        assert!(SERVICE_UNIT.contains("\nAfter=multi-user.target\n"));
    }
}
