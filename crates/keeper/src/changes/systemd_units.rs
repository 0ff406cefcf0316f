//! Units of systemd: whether they run, and starting and stopping them.

use std::process::{Command, Stdio};

use crate::failure::{Failure, Result};

const ACTIVE: &str = "active";

/// Whether a unit runs: `active` or `inactive`.
pub fn state(unit: &str) -> Result<Vec<u8>> {
    let text = shown(unit, "ActiveState,LoadState")?;
    if !text.lines().any(|line| line == "LoadState=loaded") {
        return Err(Failure::Refused(format!("there is no unit {unit}")));
    }
    let runs = text.lines().any(|line| {
        matches!(line, "ActiveState=active" | "ActiveState=reloading" | "ActiveState=activating")
    });
    Ok(if runs { ACTIVE.into() } else { b"inactive".to_vec() })
}

/// The active units, such as sockets, that trigger a stopped unit.
pub fn starters(unit: &str) -> Result<Vec<String>> {
    let mut found = listed(&shown(unit, "TriggeredBy")?, "TriggeredBy=");
    found.retain(|name| state(name).is_ok_and(|now| now == ACTIVE.as_bytes()));
    Ok(found)
}

/// Restarts a unit with its present configuration, or stops it.
pub fn put(unit: &str, wanted: &[u8]) -> Result<()> {
    let runs = wanted == ACTIVE.as_bytes();
    if runs && !is_service(unit) {
        return start(unit);
    }
    // After several starts in a short time systemd would refuse the next.
    let _ = systemctl(&["reset-failed", "--", unit]);
    let (done, said) = systemctl(&[if runs { "restart" } else { "stop" }, "--", unit])?;
    if !done {
        // auditd can be stopped only by a signal.
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

/// Whether a unit runs programs itself, and does not only trigger another.
pub fn is_service(unit: &str) -> bool {
    unit.ends_with(".service")
}

/// Starts a unit that triggers others. A socket can't be opened while its service holds it.
fn start(unit: &str) -> Result<()> {
    if state(unit)? == ACTIVE.as_bytes() {
        return Ok(());
    }
    for service in listed(&shown(unit, "Triggers")?, "Triggers=") {
        systemctl(&["stop", "--", &service])?;
    }
    match systemctl(&["start", "--", unit])? {
        (true, _) => Ok(()),
        (false, said) => Err(Failure::Failed(format!("{unit} is down: {said}"))),
    }
}

/// Properties of a unit, one a line.
fn shown(unit: &str, properties: &str) -> Result<String> {
    let said = Command::new("systemctl")
        .args(["show", &format!("--property={properties}"), "--", unit])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| Failure::Refused(format!("systemctl: {error}")))?;
    Ok(String::from_utf8_lossy(&said.stdout).into_owned())
}

/// The words of a property that lists units.
fn listed(text: &str, property: &str) -> Vec<String> {
    let words = text.lines().find_map(|line| line.strip_prefix(property)).unwrap_or_default();
    words.split_whitespace().map(str::to_owned).collect()
}

/// Runs systemctl to its end. Returns whether it succeeded, and its complaints.
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

#[cfg(test)]
mod tests {
    use super::{is_service, listed};

    #[test]
    fn units_are_listed_by_the_property_that_names_them() {
        let text = "TriggeredBy=syslog.socket a.path\nTriggers=\n";
        assert_eq!(listed(text, "TriggeredBy="), ["syslog.socket", "a.path"]);
        assert!(listed(text, "Triggers=").is_empty());
        assert!(is_service("rsyslog.service") && !is_service("syslog.socket"));
    }
}
