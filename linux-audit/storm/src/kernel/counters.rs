//! What the kernel counts and finds about itself: its counters of rules, the rules that its index
//! lacks, and leaked memory.

use std::fs;
use std::io;

use hardcost_linux::kcore::Kcore;

use crate::child::pause;
use crate::console::say;
use crate::options::Options;
use crate::shared_memory::Shared;

const KMEMLEAK: &str = "/sys/kernel/debug/kmemleak";

/// The number of rules missing from the kernel's index; `None` if it has no index.
pub fn missing(options: &Options) -> Option<u32> {
    word(options.missing)
}

/// Makes sure that no rule loaded with enough memory is missing from the index.
pub fn check_index(shared: &Shared, options: &Options) {
    match missing(options) {
        Some(0) | None => {}
        Some(number) => shared.fault(&format!("the index lacks {number} rules")),
    }
}

/// Makes sure that the counters are 0, as no rule is loaded.
pub fn check_zero(shared: &Shared, options: &Options) {
    for (name, address) in ["audit_n_rules", "audit_signals"].iter().zip(options.counters) {
        match word(address) {
            Some(0) => say(&format!("{name} is 0 at the end")),
            Some(left) => shared.fault(&format!("{name} is {left} with no rule loaded")),
            None => say(&format!("{name} is not known")),
        }
    }
}

/// The 32 bits at a kernel address; `None` if the kernel hides them, or for address 0.
fn word(address: u64) -> Option<u32> {
    Kcore::open()?.word(address)
}

/// Has the kernel forget memory that was leaked so far.
pub fn clear_leaks() {
    // Without kmemleak there is nothing to clear.
    let _ = fs::write(KMEMLEAK, "clear");
}

/// Has the kernel look for leaked memory; deferred frees get some time first.
pub fn find_leaks(shared: &Shared) -> io::Result<()> {
    if !fs::exists(KMEMLEAK)? || fs::read_to_string("/proc/cmdline")?.contains("kmemleak=off") {
        return Ok(());
    }
    for _ in 0..2 {
        pause(6000);
        if fs::write(KMEMLEAK, "scan").is_err() {
            shared.fault("kmemleak has given up");
            return Ok(());
        }
    }
    let found = fs::read_to_string(KMEMLEAK)?;
    if found.is_empty() {
        say("kmemleak finds nothing");
    } else {
        shared.fault(&format!("kmemleak: {found}"));
    }
    Ok(())
}
