//! The kernel's fault injection: allocations that fail on demand, for one process at a time.
//!
//! There are two ways. Only the n-th allocation fails (`/proc/self/fail-nth`), for n = 1, 2, …: so
//! each allocation of an addition fails once. Or all fail after a number of bytes (`failslab` with
//! its task filter): then an allocation with a fallback loses that too.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;

const FAILSLAB: &str = "/sys/kernel/debug/failslab";
const FAILPAGE: &str = "/sys/kernel/debug/fail_page_alloc";

/// The kernel's switches, opened before memory fails.
pub struct FaultInjection {
    nth: File,
    task: File,
    space: File,
}

impl FaultInjection {
    /// Opens them; `None` if the kernel has none.
    pub fn open() -> Option<Self> {
        let open = |path: &str| File::options().read(true).write(true).open(path).ok();
        Some(Self {
            nth: open("/proc/self/fail-nth")?,
            task: open("/proc/self/make-it-fail")?,
            space: open(&format!("{FAILSLAB}/space"))?,
        })
    }

    /// Sets what all processes share; nothing fails yet. Returns whether the kernel can do that.
    pub fn prepare() -> io::Result<bool> {
        if !fs::exists(FAILSLAB)? {
            return Ok(false);
        }
        for (folder, name, value) in [
            // Include allocations that could sleep; quietly, and without end.
            (FAILSLAB, "ignore-gfp-wait", "N"),
            (FAILPAGE, "ignore-gfp-wait", "N"),
            // Not single pages: caches grow by them.
            (FAILPAGE, "min-order", "1"),
        ] {
            fs::write(format!("{folder}/{name}"), value)?;
        }
        for folder in [FAILSLAB, FAILPAGE] {
            for (name, value) in [
                ("task-filter", "Y"),
                ("verbose", "0"),
                ("interval", "1"),
                ("times", "-1"),
                ("probability", "100"),
            ] {
                fs::write(format!("{folder}/{name}"), value)?;
            }
        }
        Ok(true)
    }

    /// Does something while the n-th allocation fails; returns also whether there were so many.
    pub fn fail_nth<T>(&self, n: u32, action: impl FnOnce() -> T) -> io::Result<(T, bool)> {
        self.nth.write_at(n.to_string().as_bytes(), 0)?;
        let done = action();
        let mut left = [0; 16];
        let length = self.nth.read_at(&mut left, 0)?;
        self.nth.write_at(b"0", 0)?;
        Ok((done, left[..length].starts_with(b"0")))
    }

    /// Does something while all allocations fail after some bytes; returns also whether any did.
    pub fn fail_after<T>(&self, bytes: u32, action: impl FnOnce() -> T) -> io::Result<(T, bool)> {
        (&self.space).write_all(bytes.to_string().as_bytes())?;
        self.task.write_at(b"1", 0)?;
        let done = action();
        self.task.write_at(b"0", 0)?;
        let left = fs::read_to_string(format!("{FAILSLAB}/space"))?;
        let left: i64 = left.trim().parse().map_err(io::Error::other)?;
        // After a failure nothing is charged any more; the next allocation would cost more than the
        // remaining bytes.
        Ok((done, left <= 4096))
    }
}
