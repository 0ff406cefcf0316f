//! How long processes and threads have run, by the kernel's clock of each.

/// How long a process has run with all its threads, in nanoseconds; `None` if it does not exist.
pub fn clock_of_process(pid: i32) -> Option<u64> {
    // The kernel's number of that clock: `MAKE_PROCESS_CPUCLOCK` of `CPUCLOCK_SCHED`.
    nanoseconds((!pid << 3) | 2)
}

/// How long this thread has run, in nanoseconds.
pub fn clock_of_thread() -> u64 {
    nanoseconds(libc::CLOCK_THREAD_CPUTIME_ID).unwrap_or(0)
}

fn nanoseconds(clock: libc::clockid_t) -> Option<u64> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes to `time` alone.
    let failed = unsafe { libc::clock_gettime(clock, &raw mut time) } != 0;
    let (seconds, rest) = (u64::try_from(time.tv_sec).ok()?, u64::try_from(time.tv_nsec).ok()?);
    (!failed).then_some(seconds * 1_000_000_000 + rest)
}

#[cfg(test)]
mod tests {
    use super::{clock_of_process, clock_of_thread};

    #[test]
    fn the_clock_of_a_process_runs_while_it_does() {
        let own = rustix::process::getpid().as_raw_nonzero().get();
        let (process, thread) = (clock_of_process(own), clock_of_thread());
        assert!(process > Some(0) && thread > 0);
        while clock_of_thread() == thread {}
        assert!(clock_of_process(own) > process);
        assert_eq!(clock_of_process(1 << 26), None);
    }
}
