//! A running program whose output is taken.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::process::{Child, Command, ExitStatus};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::error::{Context, Result};
use crate::outputs::{Outputs, Woken};
use crate::tree;
use crate::wait::{Beside, Deadline};

/// Where programs are searched for.
pub const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Which signal a descriptor's owner gets. The crate `libc` does not have it.
const F_SETSIG: libc::c_int = 10;

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
        command: Command,
        variable: Option<(String, String)>,
        limit: usize,
    ) -> Result<Self> {
        Self::begin(command, variable, Outputs::new(limit)?)
    }

    /// The same, for a program that prints nothing and would never end: the kernel kills it when this
    /// process ends, whatever ends that.
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
        // The command holds the outputs' other ends, which must close when the program ends.
        drop(command);
        let pid = Pid::from_child(&child);
        let ended = pidfd_open(pid, PidfdFlags::empty()).context(|| name)?;
        Ok(Self { child, ended, is_reaped: false, outputs })
    }

    /// The program's process.
    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
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

/// Has the kernel kill a process when nobody can read any more what is written to that pipe. That is
/// when this process ends, since nobody else has the other end. Nothing may ever be read from it.
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

impl Drop for Process {
    #[expect(clippy::disallowed_methods, reason = "it was killed")]
    fn drop(&mut self) {
        if !self.is_reaped {
            tree::kill(Pid::from_child(&self.child));
            let _ = self.child.wait();
        }
    }
}
