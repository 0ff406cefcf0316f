//! What the kernel decides about a fixed set of calls under the loaded rules, and whether that is
//! the same once these rules are loaded again, or on another kernel.

use std::io;
use std::sync::atomic::Ordering::SeqCst;

use crate::child::{become_user, pause, spawn, wait};
use crate::console::say;
use crate::kernel::netlink::Netlink;
use crate::kernel::record::Record;
use crate::kernel::rule;
use crate::kernel::syscalls::{CPath, call, call32, execute, n32, n64, open_close};
use crate::processes::numbered_callers;
use crate::shared_memory::{Count, DECIDED_CALLS, Shared, USERS};

const FIRST_MARK: u64 = 0x51_0000;
const BARRIER: usize = 0; // the numbered call that comes last

type Decisions = Vec<(usize, usize, u64)>;

/// Notes the contents of a record, if it is of one of the fixed calls.
pub fn note(record: &Record<'_>, shared: &Shared) {
    let Some(user) = USERS.iter().position(|&user| user == record.user) else { return };
    let Some(slot) = record.mark.checked_sub(FIRST_MARK).and_then(|at| usize::try_from(at).ok())
    else {
        return;
    };
    if slot >= DECIDED_CALLS {
        return;
    }
    let found = digest(record);
    if shared.decisions[user][slot].swap(found, SeqCst) != 0 {
        shared.fault(&format!("one call, two records: {record:?}"));
    }
}

/// Call, architecture and key as one number, which is never 0.
fn digest(record: &Record<'_>) -> u64 {
    let text = format!("{} {} {}", record.call, record.arch, record.key);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |digest: u64, byte| {
        (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    }) | 1
}

/// Loads all rules again, in their order, and compares the decisions before and after. Prints the
/// rules and decisions in full if that is requested.
pub fn compare(netlink: &mut Netlink, shared: &'static Shared, in_full: bool) -> io::Result<()> {
    let rules = netlink.list()?;
    let before = decisions(shared);
    delete(netlink, shared, &rules)?;
    for rule in &rules {
        netlink.add(rule)?;
    }
    let after = decisions(shared);
    let recorded = before.iter().filter(|&&(_, _, found)| found != 0).count();
    say(&format!(
        "decisions: {} rules, {recorded} of {} calls recorded",
        rules.len(),
        before.len()
    ));
    differences(shared, &before, &after, "loaded again");
    if in_full {
        say("set");
        for rule in &rules {
            say(&format!("rule {}", rule::written(rule)));
        }
        for (user, slot, found) in before.iter().filter(|&&(_, _, found)| found != 0) {
            say(&format!("decision {user} {slot} {found:x}"));
        }
    }
    Ok(())
}

/// Deletes rules, after which none may be left.
fn delete(netlink: &mut Netlink, shared: &Shared, rules: &[Vec<u8>]) -> io::Result<()> {
    for rule in rules {
        netlink.delete(rule)?;
    }
    let left = netlink.list()?.len();
    if left != 0 {
        shared.fault(&format!("{left} rules are left of {} when all were deleted", rules.len()));
    }
    Ok(())
}

fn differences(shared: &Shared, one: &Decisions, other: &Decisions, how: &str) {
    shared.count(Count::Comparisons);
    shared.add(Count::Decisions, one.len() as u64);
    for (one, other) in one.iter().zip(other).filter(|(one, other)| one != other) {
        let (user, slot, found) = one;
        let message = format!(
            "call {slot} of user {}: {found:x} as the rules stood, {:x} {how}",
            USERS[*user], other.2
        );
        shared.fault(&message);
    }
}

/// Loads the sets of rules of another kernel, and compares the decisions with those of that
/// kernel.
pub fn replay(netlink: &mut Netlink, shared: &'static Shared, text: &str) -> io::Result<()> {
    let wrong = || io::Error::other("a set of rules that can't be read");
    for set in text.split("set\n").skip(1) {
        let mut rules = Vec::new();
        let empty =
            (0..USERS.len()).flat_map(|user| (0..DECIDED_CALLS).map(move |slot| (user, slot, 0)));
        let mut expected: Decisions = empty.collect();
        for line in set.lines() {
            if let Some(rule) = line.strip_prefix("rule ") {
                rules.push(rule::read(rule).ok_or_else(wrong)?);
            } else if let Some(decision) = line.strip_prefix("decision ") {
                let (user, slot, found) = read(decision).ok_or_else(wrong)?;
                expected.get_mut(user * DECIDED_CALLS + slot).ok_or_else(wrong)?.2 = found;
            }
        }
        for rule in &rules {
            netlink.add(rule)?;
        }
        let found = decisions(shared);
        delete(netlink, shared, &rules)?;
        differences(shared, &expected, &found, "here");
    }
    Ok(())
}

fn read(decision: &str) -> Option<(usize, usize, u64)> {
    let mut words = decision.split(' ');
    let mut number = || words.next()?.parse().ok();
    let (user, slot) = (number()?, number()?);
    Some((user, slot, u64::from_str_radix(words.next()?, 16).ok()?))
}

/// Makes the calls as each of the users, and returns what was recorded.
fn decisions(shared: &'static Shared) -> Decisions {
    for slot in shared.decisions.iter().flatten() {
        slot.store(0, SeqCst);
    }
    for user in USERS {
        wait(spawn(move || {
            become_user(user, user);
            make_calls();
        }));
    }
    barrier(shared);
    let slots = shared.decisions.iter().enumerate();
    slots
        .flat_map(|(user, slots)| {
            let found = slots.iter().enumerate();
            found.map(move |(slot, found)| (user, slot, found.load(SeqCst)))
        })
        .collect()
}

/// Waits until all records so far have been read.
fn barrier(shared: &'static Shared) {
    let own = &shared.numbered_calls[BARRIER];
    let mark = own.made.load(SeqCst) + 1;
    wait(spawn(move || {
        become_user(numbered_callers::user(BARRIER), 0);
        call(n64::GETPPID, [0; 3], mark);
    }));
    own.made.store(mark, SeqCst);
    for _ in 0..12_000 {
        if own.recorded.load(SeqCst) >= mark {
            return;
        }
        pause(10);
    }
    shared.fault("the call that comes last was not recorded");
}

fn make_calls() {
    let mut mark = FIRST_MARK;
    let mut next = || {
        mark += 1;
        mark - 1
    };
    let paths = ["/storm/w0/f", "/storm/w1/f", "/storm/w2/f", "/storm/f", "/proc/self/stat"];
    for path in paths.map(CPath::new) {
        open_close(&path, 0, next());
        call(n64::ACCESS, [path.address(), 4, 0], next());
        call(n64::CHMOD, [path.address(), 0o644, 0], next());
    }
    let own = CPath::new("/storm/w3/own");
    let other = CPath::new("/storm/w4/moved");
    open_close(&own, 0o1101, next());
    call(n64::RENAME, [own.address(), other.address(), 0], next());
    call(n64::UNLINK, [other.address(), 0, 0], next());
    call(n64::MKDIR, [own.address(), 0o700, 0], next());
    call(n64::RMDIR, [own.address(), 0, 0], next());
    execute(&CPath::new("/storm/noop"), next());
    for number in [n64::GETPPID, n64::GETUID, n64::READ, n64::CLOSE, n64::LSEEK, n64::KILL] {
        call(number, [usize::MAX, 99, 0], next());
    }
    for number in [64, 500, 600, 1999, 2000, 2031, 2032, 2040, 2047, 2048, 5000, 0x4000_006e, -7] {
        call(number, [usize::MAX, 0, 0], next());
    }
    for number in [n32::GETPPID, n32::CLOSE, n32::FCHMOD, 600, 2000, 2047, 2048, -9] {
        call32(number, u32::MAX, next());
    }
    let absent = CPath::new("/storm/w5/absent");
    open_close(&absent, 0, next());
    call(n64::EXECVE, [absent.address(), 0, 0], next());
}

#[cfg(test)]
mod tests {
    use super::digest;
    use crate::kernel::record::Record;

    #[test]
    fn another_key_is_another_decision() {
        let of = |key| digest(&Record { user: 1, mark: 1, call: 2, arch: 3, key });
        assert_ne!(of("a"), of("b"));
        assert_ne!(of("(null)"), 0);
    }
}
