//! Processes that number their calls, each of which must be recorded exactly once, whatever else
//! happens; and one whose calls no rule can match, which must never be recorded.
//!
//! Each has a rule of its own that stays loaded. The number is an argument of the call, so it is in
//! the record, and the audit daemon expects consecutive ones.

use std::sync::atomic::Ordering::SeqCst;

use crate::child::{become_user, spawn};
use crate::kernel::rule::{ALWAYS, B32, B64, EQUAL, EXIT, Rule, field};
use crate::kernel::syscalls::{CPath, call, call32, n32, n64, open_close};
use crate::random::Random;
use crate::shared_memory::{Count, NUMBERED_CALLERS, Shared};

/// User ids from here on belong to these processes; no other rule matches them.
pub const FIRST_USER: u32 = 60_000;
/// The user whose calls no rule matches.
pub const UNMATCHED_USER: u32 = 60_100;
/// The paths that the processes with rules on a directory and on a file access.
pub const DIRECTORY: &str = "/numbered/directory";
pub const FILE: &str = "/numbered/file";

const OUTSTANDING: u64 = 32; // calls made whose records have not arrived
const MOST_PAUSES: u64 = 20_000; // of 5 ms each, until a process gives up
const NO_DESCRIPTOR: usize = usize::MAX; // and not a valid address of a sleeping time

/// What identifies a process's rule in records.
pub fn key(which: usize) -> String {
    format!("numbered-{which}")
}

pub fn user(which: usize) -> u32 {
    FIRST_USER + u32::try_from(which).unwrap_or(0)
}

/// The rule that records a process's calls.
pub fn rule(which: usize) -> Rule {
    let rule = Rule::new(EXIT, ALWAYS);
    let rule = match which {
        // One call of one architecture.
        0 => rule.call(number(n64::GETPPID)).number(field::ARCH, EQUAL, B64),
        // Every call.
        1 => rule.all_calls(),
        2 => rule.all_calls().text(field::DIR, EQUAL, DIRECTORY).number(field::PERM, EQUAL, 4),
        // Not of the exit list: a rule about a file.
        3 => rule.all_calls().text(field::WATCH, EQUAL, FILE).number(field::PERM, EQUAL, 4),
        4 => rule.call(n32::GETPPID.unsigned_abs()).number(field::ARCH, EQUAL, B32),
        // Replaced by a copy at each reload of the policy.
        _ => rule.call(number(n64::GETPPID)).text(field::SUBJ_TYPE, EQUAL, "base_t"),
    };
    rule.number(field::UID, EQUAL, user(which)).key(&key(which))
}

fn number(call: i64) -> u32 {
    u32::try_from(call).unwrap_or(0)
}

/// The calls that the process whose every call is recorded numbers.
const NUMBERED: [i64; 7] = [n64::GETPPID, n64::GETUID, n64::LSEEK, n64::NANOSLEEP, 600, 2000, 2031];

/// Whether the process whose every call is recorded numbers this one.
pub fn numbered(number: u64) -> bool {
    NUMBERED.iter().any(|&one| i64::try_from(number) == Ok(one))
}

/// Starts all of them; they end with the round.
pub fn start(shared: &'static Shared, has_policy: bool) -> Vec<i32> {
    let all = (0..NUMBERED_CALLERS).filter(|&which| has_policy || which != 5);
    let mut started: Vec<i32> = all
        .map(|which| {
            spawn(move || {
                become_user(user(which), user(which));
                make_numbered_calls(shared, which);
            })
        })
        .collect();
    started.push(spawn(move || {
        become_user(UNMATCHED_USER, UNMATCHED_USER);
        make_unmatched_calls(shared);
    }));
    started
}

fn make_numbered_calls(shared: &Shared, which: usize) {
    let own = &shared.numbered_calls[which];
    let places = [format!("{DIRECTORY}/file"), FILE.to_owned()].map(|path| CPath::new(&path));
    let mut random = Random::new(1, which as u64, own.made.load(SeqCst));
    while shared.is_running() {
        let mark = own.made.load(SeqCst) + 1;
        let done = match which {
            0 | 5 => call(n64::GETPPID, [0; 3], mark) > 0,
            1 => {
                let number = random.pick(&NUMBERED);
                call(number, [NO_DESCRIPTOR, 0, 0], mark);
                true
            }
            2 | 3 => open_close(&places[which - 2], 0, mark),
            _ => call32(n32::GETPPID, 0, mark) > 0,
        };
        if !done {
            shared.fault(&format!("numbered caller {which} could not make its call"));
            return;
        }
        own.made.store(mark, SeqCst);
        wait_for_daemon(shared, which, mark);
    }
}

/// Waits until the audit daemon is not too far behind. Where every call is recorded, the calls that
/// wait are numbered too.
fn wait_for_daemon(shared: &Shared, which: usize, mut mark: u64) {
    let own = &shared.numbered_calls[which];
    let nap = [0_i64, 5_000_000];
    for _ in 0..MOST_PAUSES {
        if own.recorded.load(SeqCst) + OUTSTANDING > mark {
            return;
        }
        if which == 1 {
            mark += 1;
            call(n64::NANOSLEEP, [nap.as_ptr() as usize, 0, 0], mark);
            own.made.store(mark, SeqCst);
        } else {
            crate::child::pause(5);
        }
    }
    let recorded = own.recorded.load(SeqCst);
    shared.fault(&format!("numbered caller {which} made {mark} calls, {recorded} were recorded"));
}

fn make_unmatched_calls(shared: &Shared) {
    let places = ["/storm/w0/f", "/storm/p0/f", "/numbered/file"].map(CPath::new);
    let mut random = Random::new(2, 0, 0);
    while shared.is_running() {
        for place in &places {
            open_close(place, 0, 0);
            call(n64::ACCESS, [place.address(), 0, 0], 0);
        }
        for number in [n64::GETPPID, n64::GETUID, 600, 2047, 5000, 0x4000_0000 | n64::GETPPID] {
            call(number, [0; 3], 0);
        }
        call32(n32::GETPPID, 0, 0);
        shared.add(Count::UnmatchedCalls, 16);
        if random.chance(20) {
            crate::child::pause(1);
        }
    }
}
