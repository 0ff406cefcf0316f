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
    // It was started a number of times in a short while, and systemd would refuse the next.
    let _ = systemctl(&["reset-failed", "--", unit]);
    let (done, said) = systemctl(&[if runs { "restart" } else { "stop" }, "--", unit])?;
    if !done {
        // auditd lets nobody stop it but by a signal.
        systemctl(&["kill", "--signal=TERM", "--", unit])?;
        wait_until_stopped(unit)?;
        if runs {
            systemctl(&["start", "--", unit])?;
        }
    }
    if state(unit)? == wanted {
        return Ok(());
    }
    Err(Failure::Failed(format!("{unit} is {}: {said}", if runs { "down" } else { "up" })))
}

/// Runs systemctl to its end; whether it did what it should, and what it complained of.
fn systemctl(words: &[&str]) -> Result<(bool, String)> {
    let done = Command::new("systemctl")
        .args(words)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| Failure::Failed(format!("systemctl: {error}")))?;
    Ok((done.status.success(), String::from_utf8_lossy(&done.stderr).trim().to_owned()))
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
