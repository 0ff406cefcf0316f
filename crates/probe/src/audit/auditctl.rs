//! Loading rules by auditctl, which checks them.

use std::fs;
use std::os::fd::AsFd;
use std::process::{Command, Stdio};

use hardcost_linux::system_log::SystemLog;

use crate::error::{Context, Error, Result};
use crate::processes::child_process::ChildProcess;
use crate::processes::wait::{BackgroundSource, Deadline};

const AUDITCTL: &str = "/sbin/auditctl";
const RULES: &str = "/run/hardcost.rules";
/// The same under SELinux, which lets auditctl read its own folder and no other.
const LABELLED_RULES: &str = "/etc/audit/hardcost.rules";
const SELINUX: &str = "/sys/fs/selinux/enforce";
/// How many bytes of each output to report.
const OUTPUT_LIMIT: usize = 64 << 10;
/// How long it may take, in seconds. The kernel compares each rule with those before it, which
/// takes some seconds for ten thousand.
const LIMIT: f64 = 600.0;

/// The outcome of auditctl.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct AuditctlOutput {
    /// Its exit status; `None`: it was killed.
    pub exit: Option<i32>,
    /// What it printed.
    pub stdout: String,
    /// Its complaints, those in the system log included.
    pub stderr: String,
}

/// Loads the text of a rules file by auditctl. Without any, nothing runs.
pub fn load(rules: &str, background: &mut dyn BackgroundSource) -> Result<AuditctlOutput> {
    if rules.is_empty() {
        return Ok(AuditctlOutput { exit: Some(0), ..AuditctlOutput::default() });
    }
    let path = if fs::exists(SELINUX).unwrap_or(false) { LABELLED_RULES } else { RULES };
    fs::write(path, rules).context(|| path.into())?;
    let mut command = Command::new(AUDITCTL);
    command.args(["-R", path]).stdin(Stdio::null());
    run(command, SystemLog::open(), background, Deadline::after(LIMIT)?)
}

/// Runs the command to its end, and takes its output and log messages. One that takes too long is
/// killed.
fn run(
    command: Command,
    mut log: Option<SystemLog>,
    background: &mut dyn BackgroundSource,
    deadline: Deadline,
) -> Result<AuditctlOutput> {
    let mut auditctl = ChildProcess::start(command, None, OUTPUT_LIMIT)?;
    loop {
        let woken = auditctl.wait(log.as_ref().map(AsFd::as_fd), background, deadline)?;
        log.iter_mut().try_for_each(SystemLog::take).context(|| AUDITCTL.into())?;
        if woken.ended {
            break;
        }
        if !woken.other {
            let said = auditctl.outputs.stderr.text();
            let message = format!("auditctl did not end within {} s: {said}", deadline.seconds);
            return Err(Error::Other(message.trim_end_matches([':', ' ', '\n']).into()));
        }
    }
    let status = auditctl.reap()?;
    auditctl.outputs.take_rest()?;
    // It may have logged between the last read and its end.
    log.iter_mut().try_for_each(SystemLog::take).context(|| AUDITCTL.into())?;
    let logged = log.map_or_else(String::new, |log| log.text.clone());
    let complaints = auditctl.outputs.stderr.text() + &logged;
    Ok(AuditctlOutput {
        exit: status.code(),
        stdout: auditctl.outputs.stdout.text(),
        stderr: complaints.chars().take(OUTPUT_LIMIT).collect(),
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Read;
    use std::os::fd::{AsFd, BorrowedFd};
    use std::path::PathBuf;
    use std::process::{Child, ChildStdout, Command, Stdio};

    use tempfile::TempDir;

    use super::{AuditctlOutput, run};
    use crate::error::Result;
    use crate::processes::wait::{BackgroundSource, Deadline};

    /// A service that prints endlessly; once enough of that was read, it creates a file.
    struct Printer {
        child: Child,
        output: ChildStdout,
        taken: usize,
        folder: TempDir,
    }

    impl Printer {
        fn start() -> Self {
            let folder = tempfile::tempdir().expect("room");
            let mut child = Command::new("yes").stdout(Stdio::piped()).spawn().expect("starts");
            let output = child.stdout.take().expect("a pipe");
            Self { child, output, taken: 0, folder }
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }
    }

    impl Drop for Printer {
        fn drop(&mut self) {
            self.child.kill().and_then(|()| self.child.wait()).expect("killed");
        }
    }

    impl BackgroundSource for Printer {
        fn sources(&self) -> Vec<BorrowedFd<'_>> {
            vec![self.output.as_fd()]
        }

        fn take(&mut self) -> Result<()> {
            self.taken += self.output.read(&mut [0; 4096]).expect("there is some");
            // More than a pipe holds: without a reader the service would block.
            if self.taken > 1 << 20 {
                fs::write(self.path("flag"), "").expect("room");
            }
            Ok(())
        }
    }

    fn shell(script: &str, argument: &std::path::Path) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script, "sh"]).arg(argument).stdin(Stdio::null());
        command
    }

    #[test]
    fn a_service_that_prints_without_end_is_heard_while_rules_are_loaded() {
        let mut printer = Printer::start();
        let script = "until [ -e \"$1\" ]; do sleep .01; done; echo out; echo err >&2; exit 3";
        let command = shell(script, &printer.path("flag"));
        let deadline = Deadline::after(60.0).expect("a length");
        let said = run(command, None, &mut printer, deadline).expect("it ends");
        assert_eq!(
            said,
            AuditctlOutput { exit: Some(3), stdout: "out\n".into(), stderr: "err\n".into() }
        );
    }

    #[test]
    fn what_does_not_end_is_ended_and_said() {
        let mut printer = Printer::start();
        let pid = printer.path("pid");
        let command = shell("echo begun >&2; echo $$ >\"$1\"; exec sleep 74.6", &pid);
        let deadline = Deadline::after(2.0).expect("a length");
        let error = run(command, None, &mut printer, deadline).expect_err("it hangs");
        assert_eq!(error.to_string(), "auditctl did not end within 2 s: begun");
        let number = fs::read_to_string(&pid).expect("written");
        assert!(!fs::exists(format!("/proc/{}", number.trim())).expect("readable"));
    }
}
