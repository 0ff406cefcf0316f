//! A process that changes SELinux's policy, its booleans and its mode, which makes the kernel
//! replace every affected rule (`audit_update_lsm_rules`).

use std::fs;
use std::io;
use std::path::Path;

use crate::child::{pause, spawn};
use crate::random::Random;
use crate::shared_memory::{Count, Shared};

const MOUNTED: &str = "/sys/fs/selinux";
/// Two policies: in the second the type `storm_t` is missing.
const POLICIES: [&str; 2] = ["/policy.a", "/policy.b"];

/// Loads the first policy; returns whether there is SELinux, and a policy.
pub fn begin() -> io::Result<bool> {
    if !Path::new(MOUNTED).join("load").exists() || !Path::new(POLICIES[0]).exists() {
        return Ok(false);
    }
    load(0)?;
    Ok(true)
}

fn load(which: usize) -> io::Result<()> {
    fs::write(format!("{MOUNTED}/load"), fs::read(POLICIES[which])?)
}

/// Starts it; it ends with the round.
pub fn start(shared: &'static Shared, seed: u64, round: u64) -> i32 {
    spawn(move || {
        let mut random = Random::new(seed, 500, round);
        while shared.is_running() {
            if let Err(error) = one(shared, &mut random) {
                shared.fault(&format!("the changer of the policy: {error}"));
                return;
            }
            pause(u64::from(random.below(150)));
        }
        // Restored: from here on rules must mean the same.
        if let Err(error) = load(0) {
            shared.fault(&format!("the changer of the policy: {error}"));
        }
    })
}

fn one(shared: &Shared, random: &mut Random) -> io::Result<()> {
    match random.below(3) {
        0 => {
            load(random.below(2) as usize)?;
            shared.count(Count::Policies);
        }
        1 => {
            let value = random.below(2).to_string();
            fs::write(format!("{MOUNTED}/booleans/storm_on"), value)?;
            fs::write(format!("{MOUNTED}/commit_pending_bools"), "1")?;
            shared.count(Count::Booleans);
        }
        _ => {
            for value in ["1", "0"] {
                fs::write(format!("{MOUNTED}/enforce"), value)?;
            }
            shared.count(Count::Enforced);
        }
    }
    Ok(())
}
