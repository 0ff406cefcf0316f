//! Starts and ends the storm's processes, and compares the decisions in between.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::Ordering::SeqCst;

use hardcost_linux::kcore::Kcore;

use crate::calls::n64;
use crate::fault::Faults;
use crate::load::Weather;
use crate::netlink::{self, Netlink};
use crate::options::{First, Options};
use crate::random::Random;
use crate::random_rules::{self, KEPT, REPLACED};
use crate::rule::{ALWAYS, EQUAL, EXIT, Rule, field, has_key};
use crate::sentinel;
use crate::shared::{Count, SENTINELS, Shared, TITLES, pause, say, wait};
use crate::{callers, evict, load, policy, races, survey};

/// Exists if sets of rules of another kernel are to be tested.
const REPLAY: &str = "/replay";
const KMEMLEAK: &str = "/sys/kernel/debug/kmemleak";
/// More allocations and bytes than adding the first rule takes; and a step smaller than any of its
/// allocations, so that each of them is the first to fail once.
const ALLOCATIONS: u32 = 300;
const ROOM: u32 = 64 << 10;
const STEP: usize = 32;
const LEFT_OUT: u32 = 4; // rules missing from the index when decisions are compared

/// Carries out the requested storm.
pub fn direct(shared: &'static Shared, options: &Options) {
    if let Err(error) = all(shared, options) {
        shared.fault(&format!("the director: {error}"));
    }
    for (at, title) in TITLES.iter().enumerate() {
        say(&format!("count {title}: {}", shared.counted_at(at)));
    }
}

fn all(shared: &'static Shared, options: &Options) -> io::Result<()> {
    let processors = std::thread::available_parallelism()?;
    say(&format!("{processors} processors, {options:?}"));
    if processors.get() < 2 {
        shared.fault("one processor alone: nothing happens at the same time");
    }
    furnish()?;
    let has_policy = policy::begin()?;
    let has_faults = Faults::prepare()?;
    say(&format!("policy: {has_policy}, failing allocations: {has_faults}"));
    clear_leaks();
    let mut netlink = netlink::open()?;
    if fs::exists(REPLAY)? {
        return survey::replay(&mut netlink, shared, &fs::read_to_string(REPLAY)?);
    }
    if has_faults {
        first_rule(&mut netlink, shared, options)?;
    }
    for which in (0..SENTINELS).filter(|&which| has_policy || which != 5) {
        netlink.add(&sentinel::rule(which).bytes())?;
    }
    if options.first != First::Plenty {
        look_into(&mut netlink, shared, options)?;
    }
    netlink.add(&evict::rule().bytes())?;
    let mut lost = netlink::lost(&mut netlink)?;
    for round in 0..options.rounds {
        for weather in [Weather::Fair, Weather::Short] {
            if weather == Weather::Short && !has_faults {
                continue;
            }
            storm(shared, options, (round, weather), has_policy);
            let now = netlink::lost(&mut netlink)?;
            // While memory fails, records of changed rules may be lost.
            if weather == Weather::Fair && now != lost {
                shared.fault(&format!("{} records were lost", now - lost));
            }
            if weather == Weather::Short {
                leave_out(&mut netlink, shared, options, round)?;
            }
            lost = netlink::lost(&mut netlink)?;
            look_into(&mut netlink, shared, options)?;
            clear(&mut netlink, shared)?;
            say(&format!("round {} of {}: {}", round + 1, options.rounds, summary(shared)));
        }
    }
    finish(&mut netlink, shared, options)
}

/// Creates the files and directories that all processes use.
fn furnish() -> io::Result<()> {
    let kept = (0..KEPT).map(|at| format!("/storm/w{at}"));
    let replaced = (0..REPLACED).map(|at| format!("/storm/p{at}"));
    let others = ["/storm/q0", "/storm/q1", "/storm", sentinel::DIRECTORY].map(str::to_owned);
    for folder in kept.chain(replaced).chain(others) {
        fs::create_dir_all(&folder)?;
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777))?;
        fs::write(format!("{folder}/f"), "content")?;
    }
    fs::write(format!("{}/file", sentinel::DIRECTORY), "content")?;
    fs::write(sentinel::FILE, "content")?;
    fs::create_dir(races::HERE)?;
    fs::hard_link("/init", "/storm/noop")
}

/// Adds the very first rule while memory fails.
fn first_rule(netlink: &mut Netlink, shared: &Shared, options: &Options) -> io::Result<()> {
    if options.first == First::Plenty {
        return Ok(());
    }
    let getppid = u32::try_from(n64::GETPPID).unwrap_or(0);
    let rule = Rule::new(EXIT, ALWAYS).call(getppid).number(field::UID, EQUAL, 3000).key("first");
    starve(netlink, shared, options, (options.first, rule.bytes()))
}

/// Adds some rules that the index then lacks, at the front and at the back.
fn leave_out(
    netlink: &mut Netlink,
    shared: &Shared,
    options: &Options,
    turn: u64,
) -> io::Result<()> {
    let mut random = Random::new(options.seed, 600, turn);
    for number in 0..LEFT_OUT {
        let rule = random_rules::any(&mut random, &format!("s{turn}-{number}")).bytes();
        starve(netlink, shared, options, (First::One, rule))?;
    }
    Ok(())
}

/// Adds a rule while memory fails, until it is loaded although the index lacks it, or nothing
/// fails; if the index can't be inspected, until it is loaded although something failed.
fn starve(
    netlink: &mut Netlink,
    shared: &Shared,
    options: &Options,
    (first, rule): (First, Vec<u8>),
) -> io::Result<()> {
    let Some(faults) = Faults::open() else { return Ok(()) };
    let ways: Vec<u32> = match first {
        First::All => (0..ROOM).step_by(STEP).collect(),
        _ => (1..ALLOCATIONS).collect(),
    };
    let before = missing(options);
    for way in ways {
        let (done, failed) = match first {
            First::All => faults.after(way, || netlink.add(&rule))?,
            _ => faults.at(way, || netlink.add(&rule))?,
        };
        shared.add(Count::Injected, u64::from(failed));
        let lacks = missing(options);
        // It may be loaded although the answer could not be sent for lack of memory.
        let taken = if lacks.is_some() { lacks > before } else { done.is_ok() && failed };
        if taken || !failed {
            say(&format!("{first:?} at {way}: {done:?}, failed: {failed}, lacks: {lacks:?}"));
            shared.add(Count::Survived, u64::from(taken));
            return Ok(());
        }
        let _ = netlink.delete(&rule);
    }
    Err(io::Error::other("a rule was never taken"))
}

/// Everything at once, for the requested time.
fn storm(shared: &'static Shared, options: &Options, when: (u64, Weather), has_policy: bool) {
    let (round, weather) = when;
    let turn = 2 * round + u64::from(weather == Weather::Short);
    let seed = options.seed;
    shared.stop.store(0, SeqCst);
    let mut started = sentinel::start(shared, has_policy);
    started.extend(callers::start(shared, seed, turn));
    started.extend(evict::start(shared, seed, turn));
    started.extend(races::start(shared, seed, turn));
    started.extend(load::start(shared, seed, turn, (weather, has_policy)));
    if has_policy {
        started.push(policy::start(shared, seed, turn));
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
fn look_into(netlink: &mut Netlink, shared: &'static Shared, options: &Options) -> io::Result<()> {
    if let Some(number) = missing(options) {
        say(&format!("the index lacks {number} of the rules"));
        shared.add(Count::Missing, u64::from(number));
    }
    survey::compare(netlink, shared, options.in_full)?;
    check_index(shared, options);
    Ok(())
}

/// Deletes all rules except the sentinels' and that of the evicter without context.
fn clear(netlink: &mut Netlink, shared: &Shared) -> io::Result<()> {
    for rule in netlink.list()? {
        let kept = (0..SENTINELS).any(|which| has_key(&rule, &sentinel::key(which)));
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
    for (name, address) in ["audit_n_rules", "audit_signals"].iter().zip(options.counters) {
        match word(address) {
            Some(0) => say(&format!("{name} is 0 at the end")),
            Some(left) => shared.fault(&format!("{name} is {left} with no rule loaded")),
            None => say(&format!("{name} is not known")),
        }
    }
    check_index(shared, options);
    find_leaks(shared)
}

/// The 32 bits at a kernel address; `None` if the kernel hides them, or for address 0.
fn word(address: u64) -> Option<u32> {
    Kcore::open()?.word(address)
}

/// The number of rules missing from the kernel's index; `None` if it has no index.
fn missing(options: &Options) -> Option<u32> {
    word(options.missing)
}

/// Makes sure that no rule loaded with enough memory is missing from the index.
fn check_index(shared: &Shared, options: &Options) {
    match missing(options) {
        Some(0) | None => {}
        Some(number) => shared.fault(&format!("the index lacks {number} rules")),
    }
}

fn clear_leaks() {
    // Without kmemleak there is nothing to clear.
    let _ = fs::write(KMEMLEAK, "clear");
}

/// Has the kernel look for leaked memory; deferred frees get some time first.
fn find_leaks(shared: &Shared) -> io::Result<()> {
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

fn summary(shared: &Shared) -> String {
    let of = |what| shared.counted(what);
    format!(
        "{} rules added, {} deleted, {} evictions, {} sentinels' calls, {} records, {} faults",
        of(Count::Added),
        of(Count::Deleted),
        of(Count::Directories) + of(Count::Mounts) + of(Count::Executables) + of(Count::Watched),
        of(Count::Heard),
        of(Count::Records),
        of(Count::Faults)
    )
}
