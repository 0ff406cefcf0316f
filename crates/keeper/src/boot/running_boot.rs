//! The running boot: its command line, its uptime, and rebooting.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::failure::{Failure, Result, at};

/// The word on the command line that names a boot of the keeper's. The kernel takes a name with a
/// dot for a module's, and ignores it.
pub const TOKEN: &str = "hardcost.boot=";

/// The command line of the running kernel.
pub fn line() -> Result<String> {
    let path = Path::new("/proc/cmdline");
    Ok(fs::read_to_string(path).map_err(at(path))?.trim().to_owned())
}

/// The name of the running boot; none: it is the machine's own.
pub fn token() -> Result<Option<String>> {
    let line = line()?;
    let mut found = line.split_whitespace().filter_map(|word| word.strip_prefix(TOKEN));
    Ok(found.next_back().map(str::to_owned))
}

/// Reboots the machine.
pub fn reboot() -> Result<()> {
    let plain = |program: &str, words: &[&str]| {
        let (input, output) = (Stdio::null(), Stdio::null());
        let status = Command::new(program).args(words).stdin(input).stdout(output).status();
        status.is_ok_and(|status| status.success())
    };
    if plain("systemctl", &["--no-wall", "reboot"]) || plain("reboot", &[]) {
        return Ok(());
    }
    Err(Failure::Failed("neither systemctl nor reboot reboots the machine".into()))
}

/// Seconds since the boot. Setting a clock does not change it.
pub fn uptime() -> Result<f64> {
    let path = Path::new("/proc/uptime");
    let text = fs::read_to_string(path).map_err(at(path))?;
    let first = text.split(' ').next().and_then(|word| word.parse().ok());
    first.ok_or_else(|| Failure::Failed(format!("{} is {text:?}", path.display())))
}
