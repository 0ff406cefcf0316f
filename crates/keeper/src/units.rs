//! Units of systemd.

use std::process::{Command, Stdio};

use crate::failure::{Failure, Result};

const ACTIVE: &str = "active";

/// Whether a unit runs: `active` or `inactive`.
pub fn state(unit: &str) -> Result<Vec<u8>> {
    let said = Command::new("systemctl")
        .args(["show", "--property=ActiveState,LoadState", "--", unit])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| Failure::Refused(format!("systemctl: {error}")))?;
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    if !text.lines().any(|line| line == "LoadState=loaded") {
        return Err(Failure::Refused(format!("there is no unit {unit}")));
    }
    let runs = text.lines().any(|line| {
        matches!(line, "ActiveState=active" | "ActiveState=reloading" | "ActiveState=activating")
    });
    Ok(if runs { ACTIVE.into() } else { b"inactive".to_vec() })
}

/// Starts a unit anew, with the configuration that it has now, or stops it.
pub fn put(unit: &str, wanted: &[u8]) -> Result<()> {
    let runs = wanted == ACTIVE.as_bytes();
    let verb = if runs { "restart" } else { "stop" };
    let done = Command::new("systemctl")
        .args([verb, "--", unit])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| Failure::Failed(format!("systemctl: {error}")))?;
    if state(unit)? == wanted && (done.status.success() || !runs) {
        return Ok(());
    }
    // auditd lets nobody stop it but by a signal.
    if Command::new("systemctl")
        .args(["kill", "--signal=TERM", "--", unit])
        .status()
        .is_ok_and(|status| status.success())
    {
        wait_until_stopped(unit)?;
        if runs {
            let started = Command::new("systemctl").args(["start", "--", unit]).status();
            let _ = started; // what became of it is asked below
        }
    }
    if state(unit)? == wanted {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&done.stderr).trim().to_owned();
    Err(Failure::Failed(format!("systemctl {verb} {unit}: {said}")))
}

fn wait_until_stopped(unit: &str) -> Result<()> {
    for _ in 0..100 {
        if state(unit)? != ACTIVE.as_bytes() {
            return Ok(());
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    Ok(())
}
