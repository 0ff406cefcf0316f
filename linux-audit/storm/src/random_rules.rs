//! Random rules of every kind. None matches a numbered call, or a call that must never be recorded.

use crate::kernel::rule::{
    ALWAYS, B32, B64, BITS, EQUAL, EXCLUDE, EXIT, FILESYSTEM, FIRST_CLASS, GREATER, LESS, NEVER,
    NUMBERS, Rule, TASK, UNEQUAL, URING, USER, field,
};
use crate::kernel::syscalls::{n32, n64};
use crate::processes::numbered_callers::FIRST_USER;
use crate::random::Random;

/// Directories that always exist: watched, and visited.
pub const KEPT: u32 = 8;
/// Directories with files that are watched individually, and replaced.
pub const REPLACED: u32 = 4;

/// A random rule with a unique `key`.
pub fn any(random: &mut Random, key: &str) -> Rule {
    if random.chance(10) { beside(random) } else { exit(random) }.key(key)
}

/// A rule of a list other than that for returning calls.
fn beside(random: &mut Random) -> Rule {
    match random.below(5) {
        0 => Rule::new(USER, ALWAYS).number(field::UID, EQUAL, 3999),
        1 => Rule::new(TASK, NEVER).all_calls().number(field::UID, EQUAL, 3999),
        2 => Rule::new(EXCLUDE, ALWAYS).number(field::MSGTYPE, EQUAL, 1999),
        3 => Rule::new(FILESYSTEM, NEVER).number(field::FSTYPE, EQUAL, 0x6261_6261),
        _ => {
            let rule = Rule::new(URING, action(random));
            calls(random, rule).number(field::UID, EQUAL, 3000)
        }
    }
}

fn exit(random: &mut Random) -> Rule {
    let action = action(random);
    let mut rule = Rule::new(EXIT, action);
    if random.chance(40) {
        rule = rule.in_front();
    }
    rule = calls(random, rule);
    rule = arch(random, rule);
    let user_first = random.chance(50);
    if user_first {
        rule = user(random, action, rule);
    }
    for _ in 0..random.below(3) {
        rule = condition(random, rule);
    }
    rule = place(random, rule);
    if user_first { rule } else { user(random, action, rule) }
}

fn action(random: &mut Random) -> u32 {
    if random.chance(80) { ALWAYS } else { NEVER }
}

/// Excludes the processes that number their calls. Recording rules also exclude most other callers,
/// to avoid a flood, and suppressing rules exclude most callers too, so that something is left to
/// record.
fn user(random: &mut Random, action: u32, rule: Rule) -> Rule {
    if action == ALWAYS || random.chance(75) {
        let field = random.pick(&[field::UID, field::UID, field::EUID]);
        rule.number(field, EQUAL, 3000 + random.below(4))
    } else {
        rule.number(field::UID, LESS, FIRST_USER)
    }
}

fn calls(random: &mut Random, rule: Rule) -> Rule {
    match random.below(20) {
        0..=6 => rule.call(known(random)),
        7..=10 => (0..=random.below(12)).fold(rule, |rule, _| rule.call(known(random))),
        11..=12 => {
            (0..50 + random.below(400)).fold(rule, |rule, _| rule.call(random.below(NUMBERS)))
        }
        13 => rule.call(random.below(NUMBERS)),
        14..=15 => rule.call(FIRST_CLASS + random.below(16)),
        16..=18 => rule.all_calls(),
        _ => rule.whole_mask(),
    }
}

/// The number of a call that processes make.
fn known(random: &mut Random) -> u32 {
    let number = random.pick(&[
        n64::READ,
        n64::OPEN,
        n64::CLOSE,
        n64::STAT,
        n64::LSEEK,
        n64::IOCTL,
        n64::ACCESS,
        n64::EXECVE,
        n64::KILL,
        n64::RENAME,
        n64::MKDIR,
        n64::RMDIR,
        n64::UNLINK,
        n64::CHMOD,
        n64::GETUID,
        n64::GETPPID,
        i64::from(n32::GETPPID),
        i64::from(n32::CLOSE),
        i64::from(n32::ACCESS),
        600,
        2000,
        2040,
    ]);
    u32::try_from(number).unwrap_or(0)
}

fn arch(random: &mut Random, rule: Rule) -> Rule {
    match random.below(20) {
        0..=8 => rule.number(field::ARCH, EQUAL, B64),
        9..=12 => rule.number(field::ARCH, EQUAL, B32),
        13 => rule.number(field::ARCH, UNEQUAL, B64),
        14 => rule.number(field::ARCH, UNEQUAL, B32),
        // 64-bit ARM: no call has that architecture.
        15 => rule.number(field::ARCH, EQUAL, 0xc000_00b7),
        // Twice: either impossible, or one suffices.
        16 => rule.number(field::ARCH, EQUAL, B64).number(field::ARCH, UNEQUAL, B32),
        17 => rule.number(field::ARCH, EQUAL, B32).number(field::ARCH, EQUAL, B64),
        _ => rule,
    }
}

/// A condition whose truth doesn't depend on which process makes the call, or when.
fn condition(random: &mut Random, rule: Rule) -> Rule {
    match random.below(16) {
        0 => rule.number(field::GID, random.pick(&[EQUAL, UNEQUAL]), 3000),
        1 => rule.number(field::LOGINUID, EQUAL, 1000),
        2 => rule.number(field::LOGINUID_SET, EQUAL, random.below(2)),
        3 => rule.number(field::SESSION, UNEQUAL, 7),
        4 => rule.number(field::EXIT, random.pick(&[EQUAL, GREATER, LESS]), random.below(3)),
        5 => rule.number(field::SUCCESS, EQUAL, random.below(2)),
        6 => rule.number(field::PERM, EQUAL, 1 + random.below(15)),
        7 => rule.number(field::FILETYPE, EQUAL, 0o100_000),
        8 => rule.number(field::OBJ_UID, random.pick(&[EQUAL, UNEQUAL]), 0),
        9 => rule.number(field::COMPARE, EQUAL, 1 + random.below(25)),
        10 => rule.number(field::MARK, BITS, 0xff),
        11 => rule.text(field::SUBJ_TYPE, EQUAL, random.pick(&["base_t", "storm_t", "none_t"])),
        12 => rule.text(field::OBJ_TYPE, UNEQUAL, random.pick(&["base_t", "storm_t"])),
        13 => rule.text(field::SUBJ_ROLE, EQUAL, "base_r"),
        14 => rule.text(field::SUBJ_USER, EQUAL, "user_u"),
        _ => rule,
    }
}

fn place(random: &mut Random, rule: Rule) -> Rule {
    match random.below(20) {
        0..=4 => rule.text(field::DIR, EQUAL, &format!("/storm/w{}", random.below(KEPT))),
        5 => rule.text(field::DIR, EQUAL, random.pick(&["/storm", "/proc", "/storm/q0"])),
        6 => rule.text(field::WATCH, EQUAL, &format!("/storm/p{}/f", random.below(REPLACED))),
        7 => rule.text(field::WATCH, EQUAL, &format!("/storm/p{}/absent", random.below(REPLACED))),
        8 => rule.number(field::INODE, EQUAL, 100_000 + random.below(64)),
        9..=10 => rule.number(field::INODE, UNEQUAL, 100_000 + random.below(64)),
        11..=13 => rule.text(field::EXE, EQUAL, random.pick(&["/init", "/storm/noop"])),
        14 => rule.text(field::EXE, UNEQUAL, "/storm/noop"),
        _ => rule,
    }
}
