//! Child processes: started, waited for, put to sleep, made to run as another user.
//!
//! A child is a fork without exec. So no process here may start a thread: a copy would wait forever
//! for a lock that a thread held.

use std::io;

/// Starts a process that does something and ends; returns its id.
pub fn spawn(job: impl FnOnce()) -> i32 {
    // SAFETY: there are no other threads, whose locks the copy could wait for.
    match unsafe { libc::fork() } {
        0 => {
            job();
            // The exit may be recorded, too. `_exit` leaves in the fourth argument's register what
            // is there, which may be the mark of the last call.
            // SAFETY: ends the process.
            unsafe { libc::syscall(libc::SYS_exit_group, 0, 0, 0, 0) };
            unreachable!("exit_group has returned")
        }
        pid if pid > 0 => pid,
        _ => panic!("fork: {}", io::Error::last_os_error()),
    }
}

/// Waits for a child; returns whether it ended by itself, with status 0.
pub fn wait(pid: i32) -> bool {
    let mut status = 0;
    // SAFETY: writes to `status`.
    while unsafe { libc::waitpid(pid, &raw mut status, 0) } < 0 {
        let error = io::Error::last_os_error();
        assert!(error.kind() == io::ErrorKind::Interrupted, "waitpid: {error}");
    }
    status == 0
}

/// Becomes another user and group permanently; root's rights stay if the user is 0.
pub fn become_user(user: u32, group: u32) {
    // SAFETY: changes this process alone, which has one thread.
    let failed = unsafe { libc::setresgid(group, group, group) != 0 }
        // SAFETY: as above.
        || unsafe { libc::setresuid(user, user, user) != 0 };
    assert!(!failed, "becoming user {user}: {}", io::Error::last_os_error());
}

/// Sleeps for that many milliseconds.
pub fn pause(milliseconds: u64) {
    std::thread::sleep(std::time::Duration::from_millis(milliseconds));
}
