//! The course of a run: makes files, adds the very first rule, starts and ends the processes of
//! each round, and compares decisions after it.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::Ordering::SeqCst;

use crate::child::{pause, wait};
use crate::console::say;
use crate::decisions;
use crate::kernel::counters;
use crate::kernel::fault_injection::FaultInjection;
use crate::kernel::netlink::{self, Netlink};
use crate::kernel::rule::{ALWAYS, EQUAL, EXIT, Rule, field, has_key};
use crate::kernel::syscalls::n64;
use crate::options::{First, Options};
use crate::processes::rule_loaders::Allocations;
use crate::processes::{
    directory_races, numbered_callers, random_callers, removers, rule_loaders, selinux_policy,
};
use crate::random::Random;
use crate::random_rules::{self, KEPT, REPLACED};
use crate::shared_memory::{Count, NUMBERED_CALLERS, Shared, TITLES};

/// Exists if sets of rules of another kernel are to be tested.
const REPLAY: &str = "/replay";
/// More allocations and bytes than adding the first rule takes; and a step smaller than any of its
/// allocations, so that each of them is the first to fail once.
const ALLOCATIONS: u32 = 300;
const ROOM: u32 = 64 << 10;
const STEP: usize = 32;
const LEFT_OUT: u32 = 4; // rules missing from the index when decisions are compared

/// Carries out the requested rounds.
pub fn run(shared: &'static Shared, options: &Options) {
    if let Err(error) = all_rounds(shared, options) {
        shared.fault(&format!("the supervisor: {error}"));
    }
    for (at, title) in TITLES.iter().enumerate() {
        say(&format!("count {title}: {}", shared.counted_at(at)));
    }
}

fn all_rounds(shared: &'static Shared, options: &Options) -> io::Result<()> {
    let processors = std::thread::available_parallelism()?;
    say(&format!("{processors} processors, {options:?}"));
    if processors.get() < 2 {
        shared.fault("one processor alone: nothing happens at the same time");
    }
    make_files()?;
    let has_policy = selinux_policy::begin()?;
    let has_faults = FaultInjection::prepare()?;
    say(&format!("policy: {has_policy}, failing allocations: {has_faults}"));
    counters::clear_leaks();
    let mut netlink = netlink::open()?;
    if fs::exists(REPLAY)? {
        return decisions::replay(&mut netlink, shared, &fs::read_to_string(REPLAY)?);
    }
    if has_faults {
        first_rule(&mut netlink, shared, options)?;
    }
    for which in (0..NUMBERED_CALLERS).filter(|&which| has_policy || which != 5) {
        netlink.add(&numbered_callers::rule(which).bytes())?;
    }
    if options.first != First::Plenty {
        compare_decisions(&mut netlink, shared, options)?;
    }
    netlink.add(&removers::rule().bytes())?;
    let mut lost = netlink::lost(&mut netlink)?;
    for round in 0..options.rounds {
        for allocations in [Allocations::Succeed, Allocations::Fail] {
            if allocations == Allocations::Fail && !has_faults {
                continue;
            }
            run_processes(shared, options, (round, allocations), has_policy);
            let now = netlink::lost(&mut netlink)?;
            // While memory fails, records of changed rules may be lost.
            if allocations == Allocations::Succeed && now != lost {
                shared.fault(&format!("{} records were lost", now - lost));
            }
            if allocations == Allocations::Fail {
                add_missing_rules(&mut netlink, shared, options, round)?;
            }
            lost = netlink::lost(&mut netlink)?;
            compare_decisions(&mut netlink, shared, options)?;
            clear(&mut netlink, shared)?;
            say(&format!("round {} of {}: {}", round + 1, options.rounds, summary(shared)));
        }
    }
    finish(&mut netlink, shared, options)
}

/// Creates the files and directories that all processes use.
fn make_files() -> io::Result<()> {
    let kept = (0..KEPT).map(|at| format!("/storm/w{at}"));
    let replaced = (0..REPLACED).map(|at| format!("/storm/p{at}"));
    let others =
        ["/storm/q0", "/storm/q1", "/storm", numbered_callers::DIRECTORY].map(str::to_owned);
    for folder in kept.chain(replaced).chain(others) {
        fs::create_dir_all(&folder)?;
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777))?;
        fs::write(format!("{folder}/f"), "content")?;
    }
    fs::write(format!("{}/file", numbered_callers::DIRECTORY), "content")?;
    fs::write(numbered_callers::FILE, "content")?;
    fs::create_dir(directory_races::HERE)?;
    fs::hard_link("/init", "/storm/noop")
}

/// Adds the very first rule while memory fails.
fn first_rule(netlink: &mut Netlink, shared: &Shared, options: &Options) -> io::Result<()> {
    if options.first == First::Plenty {
        return Ok(());
    }
    let getppid = u32::try_from(n64::GETPPID).unwrap_or(0);
    let rule = Rule::new(EXIT, ALWAYS).call(getppid).number(field::UID, EQUAL, 3000).key("first");
    add_while_failing(netlink, shared, options, (options.first, rule.bytes()))
}

/// Adds some rules that the index then lacks, at the front and at the back.
fn add_missing_rules(
    netlink: &mut Netlink,
    shared: &Shared,
    options: &Options,
    turn: u64,
) -> io::Result<()> {
    let mut random = Random::new(options.seed, 600, turn);
    for number in 0..LEFT_OUT {
        let rule = random_rules::any(&mut random, &format!("s{turn}-{number}")).bytes();
        add_while_failing(netlink, shared, options, (First::One, rule))?;
    }
    Ok(())
}

/// Adds a rule while memory fails, until it is loaded although the index lacks it, or nothing
/// fails; if the index can't be inspected, until it is loaded although something failed.
fn add_while_failing(
    netlink: &mut Netlink,
    shared: &Shared,
    options: &Options,
    (first, rule): (First, Vec<u8>),
) -> io::Result<()> {
    let Some(faults) = FaultInjection::open() else { return Ok(()) };
    let ways: Vec<u32> = match first {
        First::All => (0..ROOM).step_by(STEP).collect(),
        _ => (1..ALLOCATIONS).collect(),
    };
    let before = counters::missing(options);
    for way in ways {
        let (done, failed) = match first {
            First::All => faults.fail_after(way, || netlink.add(&rule))?,
            _ => faults.fail_nth(way, || netlink.add(&rule))?,
        };
        shared.add(Count::Injected, u64::from(failed));
        let lacks = counters::missing(options);
        // It may be loaded although the answer could not be sent for lack of memory.
        let loaded = if lacks.is_some() { lacks > before } else { done.is_ok() && failed };
        if loaded || !failed {
            say(&format!("{first:?} at {way}: {done:?}, failed: {failed}, lacks: {lacks:?}"));
            shared.add(Count::Survived, u64::from(loaded));
            return Ok(());
        }
        let _ = netlink.delete(&rule);
    }
    Err(io::Error::other("a rule was never loaded"))
}

/// Runs all processes at once, for the requested time.
fn run_processes(
    shared: &'static Shared,
    options: &Options,
    when: (u64, Allocations),
    has_policy: bool,
) {
    let (round, allocations) = when;
    let turn = 2 * round + u64::from(allocations == Allocations::Fail);
    let seed = options.seed;
    shared.stop.store(0, SeqCst);
    let mut started = numbered_callers::start(shared, has_policy);
    started.extend(random_callers::start(shared, seed, turn));
    started.extend(removers::start(shared, seed, turn));
    started.extend(directory_races::start(shared, seed, turn));
    started.extend(rule_loaders::start(shared, seed, turn, (allocations, has_policy)));
    if has_policy {
        started.push(selinux_policy::start(shared, seed, turn));
    }
    pause(1000 * options.seconds);
    shared.stop.store(1, SeqCst);
    for process in started {
        if !wait(process) {
            shared.fault(&format!("process {process} has died"));
        }
    }
}

/// Compares the decisions under the current rules with those after all rules were loaded again with
/// enough memory.
fn compare_decisions(
    netlink: &mut Netlink,
    shared: &'static Shared,
    options: &Options,
) -> io::Result<()> {
    if let Some(number) = counters::missing(options) {
        say(&format!("the index lacks {number} of the rules"));
        shared.add(Count::Missing, u64::from(number));
    }
    decisions::compare(netlink, shared, options.in_full)?;
    counters::check_index(shared, options);
    Ok(())
}

/// Deletes all rules except those of numbered calls, and that of the remover without context.
fn clear(netlink: &mut Netlink, shared: &Shared) -> io::Result<()> {
    for rule in netlink.list()? {
        let kept = (0..NUMBERED_CALLERS).any(|which| has_key(&rule, &numbered_callers::key(which)));
        if !kept && !has_key(&rule, "no-context") {
            netlink.delete(&rule)?;
            shared.count(Count::Deleted);
        }
    }
    Ok(())
}

/// Deletes everything, and checks that the kernel agrees that nothing is left.
fn finish(netlink: &mut Netlink, shared: &Shared, options: &Options) -> io::Result<()> {
    for rule in netlink.list()? {
        netlink.delete(&rule)?;
    }
    counters::check_zero(shared, options);
    counters::check_index(shared, options);
    counters::find_leaks(shared)
}

fn summary(shared: &Shared) -> String {
    let of = |what| shared.counted(what);
    format!(
        "{} rules added, {} deleted, {} removals, {} numbered calls, {} records, {} faults",
        of(Count::Added),
        of(Count::Deleted),
        of(Count::Directories) + of(Count::Mounts) + of(Count::Executables) + of(Count::Watched),
        of(Count::NumberedRecords),
        of(Count::Records),
        of(Count::Faults)
    )
}
