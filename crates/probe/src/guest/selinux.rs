//! SELinux in a Debian guest: loads the policy, labels files in memory, and enters the probe's
//! domain.
//!
//! The kernel's first process starts as `kernel_t`, from which no program enters a domain of its
//! own. So the probe does what systemd does: it loads the policy, labels `/dev`, `/run` and `/tmp`,
//! and becomes `init_t`. From there Debian's policy moves daemons to their domains (`httpd_t`,
//! `mysqld_t` and so on), other programs to `initrc_t`, and allows starting a program as
//! `unconfined_t`. `init_t` itself may do all that the probe does: use the ports, write settings,
//! talk to the kernel's audit, read logs.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::fs::{XattrFlags, setxattr};

use crate::error::{Context, Error, Result};

/// Exists if the kernel was booted with SELinux.
const MOUNTED: &str = "/sys/fs/selinux/load";
/// Exists if the guest has a policy.
const POLICY: &str = "/etc/selinux/config";
/// The probe's context.
const CONTEXT: &str = "system_u:system_r:init_t:s0";
const CURRENT: &str = "/proc/self/attr/current";
/// Folders in memory: their labels can't come with the image.
const IN_MEMORY: [&str; 3] = ["/dev", "/run", "/tmp"];
/// Files that the policy does not know.
const LABELS: [(&str, &str); 2] = [("/run/hardcost", "var_run_t"), ("/run/hardcost/noop", "bin_t")];
const ATTRIBUTE: &str = "security.selinux";

/// Loads the guest's policy, labels files, and becomes `init_t`, if the kernel was booted with
/// SELinux.
pub fn begin() -> Result<()> {
    if !Path::new(MOUNTED).exists() {
        return Ok(());
    }
    if !Path::new(POLICY).exists() {
        let message = format!("the image has no policy for SELinux ({POLICY})");
        return Err(Error::Other(message));
    }
    carry_out("load_policy", &["-i"])?;
    // Without this label restorecon would be denied its own standard input.
    label("/dev/null", "null_device_t")?;
    carry_out("restorecon", &[&["-R", "-F"], &IN_MEMORY[..]].concat())?;
    for (path, kind) in LABELS {
        label(path, kind)?;
    }
    become_init().context(|| format!("becoming {CONTEXT}"))
}

fn label(path: &str, kind: &str) -> Result<()> {
    let context = format!("system_u:object_r:{kind}:s0\0");
    setxattr(path, ATTRIBUTE, context.as_bytes(), XattrFlags::empty())
        .context(|| format!("labelling {path}"))
}

/// Changes the context in one write, as the kernel requires; the policy must allow that to
/// `kernel_t`.
fn become_init() -> std::io::Result<()> {
    fs::File::options().write(true).open(CURRENT)?.write_all(CONTEXT.as_bytes())
}

/// Runs one of the image's programs to its end.
#[expect(clippy::disallowed_methods, reason = "there is no job yet")]
fn carry_out(program: &str, arguments: &[&str]) -> Result<()> {
    let output = Command::new(program)
        .args(arguments)
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .stdin(Stdio::null())
        .output()
        .context(|| format!("starting {program}, which SELinux takes"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Error::Other(format!("{program} failed ({}): {}", output.status, said.trim())))
}
