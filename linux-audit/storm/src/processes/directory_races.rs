//! Rules whose directory is moved or removed while they are being added or deleted.
//!
//! The kernel's notifications about a directory go to marks that it places there for a rule's `exe`
//! and `path`. These marks exist before the rule is complete, and after it has left its list.

use std::fs;
use std::io;

use crate::child::spawn;
use crate::kernel::is_errno;
use crate::kernel::netlink::{self, Netlink};
use crate::kernel::rule::{ALWAYS, EQUAL, EXIT, Rule, field};
use crate::random::Random;
use crate::shared_memory::{Count, Shared};

/// The directory that moves; it exists before and after.
pub const HERE: &str = "/storm/r";
const ELSEWHERE: &str = "/storm/r-moved";
/// In a directory that stays, for rules of the same shape, for comparison.
const STAYS: &str = "/storm/noop";
/// No process has that user.
const NOBODY: u32 = 3999;

/// Starts the process that moves the directory, and two that load and delete rules about it.
pub fn start(shared: &'static Shared, seed: u64, round: u64) -> Vec<i32> {
    let mover = spawn(move || {
        let mut random = Random::new(seed, 700, round);
        while shared.is_running() {
            if let Err(error) = shift(&mut random) {
                shared.fault(&format!("the mover of a directory: {error}"));
                return;
            }
            shared.count(Count::Moved);
        }
    });
    let loaders = (0..2).map(|id| {
        spawn(move || {
            let mut random = Random::new(seed, 710 + id, round);
            let mut netlink = netlink::open().expect("a socket");
            while shared.is_running() {
                if let Err(error) = load(shared, &mut netlink, &mut random, id) {
                    shared.fault(&format!("the loader beside the mover {id}: {error}"));
                    return;
                }
            }
        })
    });
    std::iter::once(mover).chain(loaders).collect()
}

/// Moves the directory away and back, or removes and recreates it: no rule about it can be deleted
/// while it does not exist.
fn shift(random: &mut Random) -> io::Result<()> {
    if random.chance(50) {
        fs::rename(HERE, ELSEWHERE)?;
        fs::rename(ELSEWHERE, HERE)
    } else {
        fs::remove_dir(HERE)?;
        fs::create_dir(HERE)
    }
}

/// Adds a rule and deletes it, unless it disappeared by itself.
fn load(shared: &Shared, netlink: &mut Netlink, random: &mut Random, id: u64) -> io::Result<()> {
    let rule = any(random).key(&format!("c{id}")).bytes();
    match netlink.add(&rule) {
        Ok(()) => shared.count(Count::Added),
        Err(error) if is_errno(&error, &[libc::EEXIST]) => shared.count(Count::Duplicates),
        Err(error) if is_errno(&error, &[libc::ENOENT]) => {
            shared.count(Count::Refused);
            return Ok(());
        }
        Err(error) => return Err(error),
    }
    match netlink.delete(&rule) {
        Ok(()) => shared.count(Count::Deleted),
        Err(error) if is_errno(&error, &[libc::ENOENT]) => shared.count(Count::Absent),
        Err(error) => return Err(error),
    }
    Ok(())
}

fn any(random: &mut Random) -> Rule {
    let inside = format!("{HERE}/x");
    let mut rule = Rule::new(EXIT, ALWAYS).all_calls();
    let kind = random.below(4);
    if kind == 1 {
        rule = rule.text(field::DIR, EQUAL, &format!("/storm/w{}", random.below(2)));
    }
    if kind >= 2 {
        rule = rule.text(field::WATCH, EQUAL, &inside);
    }
    if kind != 3 {
        rule = rule.text(field::EXE, EQUAL, random.pick(&[&inside, STAYS]));
    }
    rule.number(field::UID, EQUAL, NOBODY)
}
