//! A child process that runs a program, with its outputs captured.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::process::{Child, Command, ExitStatus};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::error::{Context, Result};
use crate::processes::outputs::{Outputs, Wakeup};
use crate::processes::process_tree;
use crate::processes::wait::{BackgroundSource, Deadline};

/// The search path for programs.
pub const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Selects the signal that a descriptor's owner gets. The crate `libc` lacks it.
const F_SETSIG: libc::c_int = 10;

/// A program started by the probe. It is killed with all its descendants if this is dropped before
/// it was reaped.
pub struct ChildProcess {
    child: Child,
    /// Readable once the program has ended.
    ended: OwnedFd,
    is_reaped: bool,
    /// What it prints.
    pub outputs: Outputs,
}

impl ChildProcess {
    /// Starts a program, keeping at most `limit` bytes of each of its outputs.
    ///
    /// Its environment is `PATH`, and the variable if there is one.
    pub fn start(
        command: Command,
        variable: Option<(String, String)>,
        limit: usize,
    ) -> Result<Self> {
        Self::begin(command, variable, Outputs::new(limit)?)
    }

    /// The same for a program that prints nothing and never ends: the kernel kills it when this
    /// process ends, for any reason.
    pub fn start_tied(
        command: Command,
        variable: Option<(String, String)>,
        limit: usize,
    ) -> Result<Self> {
        let (outputs, (stdout, stderr)) = Outputs::new(limit)?;
        let end = stdout.try_clone().context(|| "a pipe".into())?;
        let process = Self::begin(command, variable, (outputs, (stdout, stderr)))?;
        kill_when_unread(&end, process.pid()).context(|| "tying a process to this one".into())?;
        Ok(process)
    }

    fn begin(
        mut command: Command,
        variable: Option<(String, String)>,
        (outputs, (stdout, stderr)): (Outputs, (OwnedFd, OwnedFd)),
    ) -> Result<Self> {
        let name = command.get_program().to_string_lossy().into_owned();
        command.env_clear().env("PATH", PATH).envs(variable);
        let child = command.stdout(stdout).stderr(stderr).spawn().context(|| name.clone())?;
        // The command holds the write ends of the outputs, which must close when the program ends.
        drop(command);
        let pid = Pid::from_child(&child);
        let ended = pidfd_open(pid, PidfdFlags::empty()).context(|| name)?;
        Ok(Self { child, ended, is_reaped: false, outputs })
    }

    /// The program's process.
    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Waits until the program has ended or `other` is readable; neither: the deadline is over.
    /// Meanwhile takes the program's output, and serves the background.
    pub fn wait(
        &mut self,
        other: Option<BorrowedFd<'_>>,
        background: &mut dyn BackgroundSource,
        deadline: Deadline,
    ) -> Result<Wakeup> {
        self.outputs.wait(self.ended.as_fd(), other, background, deadline)
    }

    /// Reaps the program, which must have ended.
    #[expect(clippy::disallowed_methods, reason = "it has ended")]
    pub fn reap(&mut self) -> Result<ExitStatus> {
        let status = self.child.wait().context(|| "waiting for a program's end".into())?;
        self.is_reaped = true;
        Ok(status)
    }
}

/// Has the kernel kill a process when a pipe, written to by it, loses its last reader. This process
/// is the only reader, so that happens when it ends. Nothing may ever be read from the pipe.
///
/// A death signal (`PR_SET_PDEATHSIG`) would be lost when the process becomes another user.
fn kill_when_unread(pipe: &OwnedFd, process: Pid) -> io::Result<()> {
    for (what, value) in
        [(libc::F_SETOWN, process.as_raw_nonzero().get()), (F_SETSIG, libc::SIGKILL)]
    {
        // SAFETY: touches no memory.
        if unsafe { libc::fcntl(pipe.as_raw_fd(), what, value) } != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    let signalling = OFlags::from_bits_retain(libc::O_ASYNC.unsigned_abs());
    Ok(fcntl_setfl(pipe, fcntl_getfl(pipe)? | signalling)?)
}

impl Drop for ChildProcess {
    #[expect(clippy::disallowed_methods, reason = "it was killed")]
    fn drop(&mut self) {
        if !self.is_reaped {
            process_tree::kill(Pid::from_child(&self.child));
            let _ = self.child.wait();
        }
    }
}
