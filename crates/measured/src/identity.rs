//! The identity that the process takes on: user, login, SELinux context.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use rustix::fs::{Access, Mode, OFlags, access, open};
use rustix::io::{self, Errno, read, write};
use rustix::process::{DumpableBehavior, getuid, set_dumpable_behavior, setsid, umask};
use rustix::thread::{Gid, Uid, set_thread_gid, set_thread_groups, set_thread_uid};

use crate::messages::{Context, Failure, Identity, User};
use crate::raw_syscalls::syscall;

/// The number of a login user or an audit session that was never set.
const UNSET: u32 = u32::MAX;
const LOGIN: &str = "/proc/self/loginuid";
const SESSION: &str = "/proc/self/sessionid";
/// The context of the next program that this process executes.
const EXEC_CONTEXT: &str = "/proc/self/attr/exec";
/// Exists if SELinux is on.
const SELINUX: &str = "/sys/fs/selinux/enforce";
/// The number of I/O ports.
const PORTS: usize = 65_536;

/// Drops the rights that only the probe needs, and leaves its session.
pub fn leave_probe() -> Result<(), Failure> {
    // Drops the I/O ports. The kernel may refuse, or lack the call, if the process has none.
    // SAFETY: touches no memory.
    let _ = unsafe { syscall(libc::SYS_ioperm, [0, PORTS, 0]) };
    umask(Mode::from_raw_mode(0o022));
    setsid().map(drop).context(|| "a session of its own".into())
}

/// Becomes the ordinary user with that user and group id, logged in as such; without an id, stays
/// who it is.
pub fn assume(id: Option<u32>) -> Result<Identity, Failure> {
    leave_probe()?;
    if let Some(id) = id {
        // Refused where it is set and locked; missing where the kernel has no audit. The result is
        // reported.
        let _ = write_to(LOGIN, &id.to_string());
        change_user(&User { uid: id, gid: id, groups: Vec::new() })?;
    }
    Ok(identify())
}

/// Sets the login user for audit. A kernel without audit has none.
pub fn log_in(id: u32) -> Result<(), Failure> {
    match write_to(LOGIN, &id.to_string()) {
        Err(Errno::NOENT) => Ok(()),
        result => result.context(|| ["logging in as ", &id.to_string()].concat()),
    }
}

/// Chooses the SELinux context of the next program, where SELinux is on.
pub fn take_context(context: &str) -> Result<(), Failure> {
    if access(SELINUX, Access::EXISTS).is_err() {
        return Ok(());
    }
    write_to(EXEC_CONTEXT, context).context(|| ["taking the context ", context].concat())
}

/// Becomes a user.
pub fn change_user(user: &User) -> Result<(), Failure> {
    let groups: Vec<_> = user.groups.iter().map(|&group| Gid::from_raw(group)).collect();
    set_thread_groups(&groups).context(|| "changing groups".into())?;
    let becoming = |kind: &str, id: u32| ["becoming ", kind, " ", &id.to_string()].concat();
    set_thread_gid(Gid::from_raw(user.gid)).context(|| becoming("group", user.gid))?;
    set_thread_uid(Uid::from_raw(user.uid)).context(|| becoming("user", user.uid))?;
    // The change of user cleared this; a process that a user starts has it.
    set_dumpable_behavior(DumpableBehavior::Dumpable).context(|| "becoming dumpable".into())
}

/// Who this process is.
pub fn identify() -> Identity {
    Identity { uid: getuid().as_raw(), loginuid: read_number(LOGIN), session: read_number(SESSION) }
}

/// Writes to a file of `/proc`. It must not be created: SELinux would refuse that, and log it, even
/// where the file exists.
fn write_to(path: &str, text: &str) -> io::Result<()> {
    let file = open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    write(&file, text.as_bytes()).map(drop)
}

/// The number in a file of `/proc`; `None` if it is unset or the file is missing.
fn read_number(path: &str) -> Option<u32> {
    let file = open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let mut bytes = [0; 16];
    let count = read(&file, &mut bytes).ok()?;
    let text = String::from_utf8(bytes.get(..count)?.to_vec()).ok()?;
    text.trim().parse().ok().filter(|&number| number != UNSET)
}

#[cfg(test)]
mod tests {
    use super::{identify, read_number};

    #[test]
    fn a_process_knows_who_it_is() {
        assert_eq!(identify().uid, rustix::process::getuid().as_raw());
        assert_eq!(read_number("/nonexistent"), None);
        assert_eq!(read_number("/proc/self/comm"), None);
        assert!(read_number("/proc/sys/kernel/pid_max").is_some_and(|number| number > 300));
    }
}
