//! A running program whose output is taken.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::{Child, Command, ExitStatus};

use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::error::{Context, Result};
use crate::outputs::{Outputs, Woken};
use crate::tree;
use crate::wait::{Beside, Deadline};

/// Where programs are searched for.
pub const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// A program started by the probe. It is killed, with all that came of it, if this goes away before
/// it was reaped.
pub struct Process {
    child: Child,
    /// Readable once the program has ended.
    ended: OwnedFd,
    is_reaped: bool,
    /// What it prints.
    pub outputs: Outputs,
}

impl Process {
    /// Starts a program, keeping at most `limit` bytes of each of its outputs.
    ///
    /// It gets no environment but `PATH`, and the variable if there is one.
    pub fn start(
        mut command: Command,
        variable: Option<(String, String)>,
        limit: usize,
    ) -> Result<Self> {
        let name = command.get_program().to_string_lossy().into_owned();
        let (outputs, (stdout, stderr)) = Outputs::new(limit)?;
        command.env_clear().env("PATH", PATH).envs(variable);
        let child = command.stdout(stdout).stderr(stderr).spawn().context(|| name.clone())?;
        // The command holds the outputs' other ends, which must close when the program ends.
        drop(command);
        let pid = Pid::from_child(&child);
        let ended = pidfd_open(pid, PidfdFlags::empty()).context(|| name)?;
        Ok(Self { child, ended, is_reaped: false, outputs })
    }

    /// Waits until the program has ended or `other` is readable; neither: it is over. Meanwhile
    /// takes the program's output, and looks after what goes on beside it.
    pub fn wait(
        &mut self,
        other: Option<BorrowedFd<'_>>,
        beside: &mut dyn Beside,
        deadline: Deadline,
    ) -> Result<Woken> {
        self.outputs.wait(self.ended.as_fd(), other, beside, deadline)
    }

    /// Waits for nothing but the program's end, and reaps it.
    #[expect(clippy::disallowed_methods, reason = "it has ended")]
    pub fn reap(&mut self) -> Result<ExitStatus> {
        let status = self.child.wait().context(|| "waiting for a program's end".into())?;
        self.is_reaped = true;
        Ok(status)
    }
}

impl Drop for Process {
    #[expect(clippy::disallowed_methods, reason = "it was killed")]
    fn drop(&mut self) {
        if !self.is_reaped {
            tree::kill(Pid::from_child(&self.child));
            let _ = self.child.wait();
        }
    }
}
