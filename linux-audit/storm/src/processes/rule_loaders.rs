//! Processes that constantly load and delete random rules, and one that reads the list of all
//! rules.

use std::io;

use crate::child::spawn;
use crate::kernel::fault_injection::FaultInjection;
use crate::kernel::is_errno;
use crate::kernel::netlink::{self, IN_FRONT, Netlink};
use crate::kernel::rule::{ALWAYS, B64, EQUAL, EXIT, Rule, field, has_key};
use crate::processes::numbered_callers;
use crate::random::Random;
use crate::random_rules::any;
use crate::shared_memory::{Count, NUMBERED_CALLERS, Shared};

const MOST: usize = 100; // rules that a loader keeps
const ALLOCATIONS: u32 = 80; // more than adding a rule needs
const ROOM: u32 = 24_000; // bytes; more than adding a rule needs

/// What happens to allocations while a loader changes rules.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Allocations {
    /// None fails.
    Succeed,
    /// Some fail, on demand.
    Fail,
}

struct Loader {
    shared: &'static Shared,
    id: u64,
    random: Random,
    netlink: Netlink,
    faults: Option<FaultInjection>,
    has_policy: bool,
    own: Vec<Vec<u8>>,
    number: u64,
}

/// Starts two loaders and the reader of the list; they end with the round, and leave their current
/// rules.
pub fn start(
    shared: &'static Shared,
    seed: u64,
    round: u64,
    kind: (Allocations, bool),
) -> Vec<i32> {
    let (allocations, has_policy) = kind;
    let mut started: Vec<i32> = (0..2)
        .map(|id| {
            spawn(move || {
                let mut loader = Loader {
                    shared,
                    id,
                    random: Random::new(seed, 300 + id, round),
                    netlink: netlink::open().expect("a socket"),
                    faults: (allocations == Allocations::Fail).then(FaultInjection::open).flatten(),
                    has_policy,
                    own: Vec::new(),
                    number: round << 32,
                };
                while shared.is_running() {
                    if let Err(error) = loader.change_rules() {
                        shared.fault(&format!("loader {id}: {error}"));
                        return;
                    }
                }
            })
        })
        .collect();
    started.push(spawn(move || {
        if let Err(error) = read_list(shared, has_policy, Random::new(seed, 400, round)) {
            shared.fault(&format!("the reader of the list: {error}"));
        }
    }));
    started
}

/// Reads the list of rules, in which each rule of numbered calls must be once, and maintains the
/// trees.
fn read_list(shared: &Shared, has_policy: bool, mut random: Random) -> io::Result<()> {
    let mut netlink = netlink::open()?;
    while shared.is_running() {
        let rules = netlink.list()?;
        shared.count(Count::Listed);
        for which in (0..NUMBERED_CALLERS).filter(|&which| has_policy || which != 5) {
            let key = numbered_callers::key(which);
            let found = rules.iter().filter(|rule| has_key(rule, &key)).count();
            if found != 1 {
                shared.fault(&format!("the rule {key} is {found} times among {}", rules.len()));
            }
        }
        if random.chance(10) {
            netlink.trim()?;
            shared.count(Count::Trimmed);
        }
        if random.chance(10) {
            netlink.make_equivalent("/storm/q0", "/storm/q1")?;
            shared.count(Count::Equivalent);
        }
        crate::child::pause(u64::from(random.below(100)));
    }
    Ok(())
}

impl Loader {
    fn change_rules(&mut self) -> io::Result<()> {
        if self.own.len() >= MOST || (!self.own.is_empty() && self.random.chance(35)) {
            let at = self.random.below(u32::try_from(self.own.len()).unwrap_or(1)) as usize;
            let rule = self.own.swap_remove(at);
            return self.delete(&rule);
        }
        match self.random.below(40) {
            0 if self.faults.is_none() => self.burst(),
            1..=3 => self.twice(),
            4..=5 => self.absent(),
            _ => {
                let rule = self.fresh();
                self.load(rule)
            }
        }
    }

    fn fresh(&mut self) -> Vec<u8> {
        self.number += 1;
        let key = format!("r{}-{}", self.id, self.number);
        any(&mut self.random, &key).bytes()
    }

    fn load(&mut self, rule: Vec<u8>) -> io::Result<()> {
        if self.faults.is_none() {
            return self.add(rule);
        }
        match self.random.below(10) {
            0 => self.every_allocation(&rule),
            // One process alone, since the bytes that are left count for all.
            1..=5 if self.id == 0 => self.starved(&rule),
            _ => {
                let n = 1 + self.random.below(ALLOCATIONS);
                self.failing(&rule, n).map(drop)
            }
        }
    }

    /// Adds a rule, which must succeed.
    fn add(&mut self, rule: Vec<u8>) -> io::Result<()> {
        match self.netlink.add(&rule) {
            Ok(()) => {
                self.shared.count(Count::Added);
                self.own.push(rule);
            }
            Err(error) if is_errno(&error, &[libc::EOPNOTSUPP]) && !self.has_policy => {
                self.shared.count(Count::Refused);
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Deletes a rule, which must exist.
    fn delete(&mut self, rule: &[u8]) -> io::Result<()> {
        if let Some(faults) = self.faults.as_ref().filter(|_| self.random.chance(50)) {
            let n = 1 + self.random.below(ALLOCATIONS);
            let netlink = &mut self.netlink;
            let (done, failed) = faults.fail_nth(n, || netlink.delete(rule))?;
            self.shared.add(Count::Injected, u64::from(failed));
            match done {
                Ok(()) => {
                    self.shared.count(Count::Deleted);
                    return Ok(());
                }
                // Either it was deleted and the answer could not be sent, or it was not deleted.
                Err(_) if failed => {}
                Err(error) => return Err(error),
            }
            return self.gone(rule);
        }
        self.netlink.delete(rule)?;
        self.shared.count(Count::Deleted);
        Ok(())
    }

    /// Deletes a rule that may not exist; returns whether it did.
    fn gone(&mut self, rule: &[u8]) -> io::Result<()> {
        match self.netlink.delete(rule) {
            Ok(()) => self.shared.count(Count::Deleted),
            Err(error) if is_errno(&error, &[libc::ENOENT]) => self.shared.count(Count::Absent),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Finds out whether a rule was loaded although no answer could be sent, and keeps it if so.
    fn find_out(&mut self, rule: &[u8]) -> io::Result<()> {
        if rule[0] & IN_FRONT != 0 {
            return self.gone(rule); // the kernel would load it twice
        }
        match self.netlink.add(rule) {
            Ok(()) => self.shared.count(Count::Added),
            Err(error) if is_errno(&error, &[libc::EEXIST]) => self.shared.count(Count::Survived),
            Err(error) if is_errno(&error, &[libc::EOPNOTSUPP]) && !self.has_policy => {
                return Ok(());
            }
            Err(error) => return Err(error),
        }
        self.own.push(rule.to_vec());
        Ok(())
    }

    /// Adds a rule that exists already, which must be refused.
    fn twice(&mut self) -> io::Result<()> {
        // To the kernel, a rule at the front differs from the same one at the back.
        let behind = self.own.iter().rfind(|rule| rule[0] & IN_FRONT == 0);
        let Some(rule) = behind.cloned() else { return Ok(()) };
        match self.netlink.add(&rule) {
            Err(error) if is_errno(&error, &[libc::EEXIST]) => {
                self.shared.count(Count::Duplicates);
                Ok(())
            }
            Ok(()) => Err(io::Error::other("a duplicate was loaded")),
            Err(error) => Err(error),
        }
    }

    /// Deletes a rule that never existed.
    fn absent(&mut self) -> io::Result<()> {
        let rule = self.fresh();
        match self.netlink.delete(&rule) {
            Err(error) if is_errno(&error, &[libc::ENOENT]) => {
                self.shared.count(Count::Absent);
                Ok(())
            }
            Err(error) if is_errno(&error, &[libc::EOPNOTSUPP]) && !self.has_policy => Ok(()),
            Err(error) => Err(error),
            Ok(()) => Err(io::Error::other("a rule that never existed was deleted")),
        }
    }

    /// Loads some hundred rules of the usual kind, and deletes them again.
    fn burst(&mut self) -> io::Result<()> {
        let number = 100 + self.random.below(200);
        let rules: Vec<Vec<u8>> = (0..number)
            .map(|at| {
                let rule = Rule::new(EXIT, ALWAYS).number(field::ARCH, EQUAL, B64).call(at % 300);
                let rule = if at % 16 == 0 { rule.all_calls() } else { rule };
                let key = format!("b{}-{}-{at}", self.id, self.number);
                rule.number(field::UID, EQUAL, 3999).key(&key).bytes()
            })
            .collect();
        for rule in &rules {
            self.netlink.add(rule)?;
        }
        for rule in &rules {
            self.netlink.delete(rule)?;
        }
        self.shared.count(Count::Bursts);
        self.shared.add(Count::Added, u64::from(number));
        self.shared.add(Count::Deleted, u64::from(number));
        Ok(())
    }

    /// Adds a rule with each allocation in turn failing, until none does.
    fn every_allocation(&mut self, rule: &[u8]) -> io::Result<()> {
        for n in 1..500 {
            if !self.failing(rule, n)? {
                return Ok(());
            }
            if self.own.last().is_some_and(|last| last == rule) {
                self.own.pop();
                self.netlink.delete(rule)?;
                self.shared.count(Count::Deleted);
            }
        }
        Err(io::Error::other("adding a rule takes allocations without end"))
    }

    /// Adds a rule with the n-th allocation failing; returns whether there were so many. A
    /// rule that was loaded is kept.
    fn failing(&mut self, rule: &[u8], n: u32) -> io::Result<bool> {
        let Some(faults) = &self.faults else { return Ok(false) };
        let netlink = &mut self.netlink;
        let (done, failed) = faults.fail_nth(n, || netlink.add(rule))?;
        self.settle(rule, done, failed)?;
        Ok(failed)
    }

    /// Adds a rule with all allocations failing after some bytes.
    fn starved(&mut self, rule: &[u8]) -> io::Result<()> {
        let Some(faults) = &self.faults else { return Ok(()) };
        let bytes = self.random.below(ROOM);
        let netlink = &mut self.netlink;
        let (done, failed) = faults.fail_after(bytes, || netlink.add(rule))?;
        self.shared.count(Count::Starved);
        // An allocation of whole pages may have failed before any other did.
        let failed = failed || done.is_err();
        self.settle(rule, done, failed)
    }

    /// Keeps a rule that was loaded; one with an unknown answer is deleted.
    fn settle(&mut self, rule: &[u8], done: io::Result<()>, failed: bool) -> io::Result<()> {
        self.shared.add(Count::Injected, u64::from(failed));
        match done {
            Ok(()) => {
                self.shared.add(Count::Survived, u64::from(failed));
                self.shared.count(Count::Added);
                self.own.push(rule.to_vec());
                Ok(())
            }
            Err(error) if failed => {
                let memory = is_errno(&error, &[libc::ENOMEM, libc::ENOBUFS, libc::EAGAIN]);
                self.shared.count(if memory { Count::Failed } else { Count::Refused });
                self.find_out(rule)
            }
            Err(error) if is_errno(&error, &[libc::EOPNOTSUPP]) && !self.has_policy => Ok(()),
            Err(error) => Err(error),
        }
    }
}
