//! Processes that remove what rules watch: directories, file systems, executables, files. The rules
//! must disappear with it, or be there to be deleted.

use std::fs;
use std::io;
use std::path::Path;

use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};

use crate::child::{become_user, spawn, wait};
use crate::console::say;
use crate::kernel::is_errno;
use crate::kernel::netlink::{self, Netlink};
use crate::kernel::rule::{ALWAYS, B64, EQUAL, EXIT, NEVER, Rule, TASK, field};
use crate::kernel::syscalls::{CPath, execute, open_close};
use crate::random::Random;
use crate::random_rules::REPLACED;
use crate::shared_memory::{Count, Shared};

/// Processes of this group are created without an audit context.
const NO_CONTEXT: u32 = 2500;

/// Removes things, and deletes the rules that did not disappear with them.
struct Remover {
    shared: &'static Shared,
    id: u64,
    random: Random,
    netlink: Netlink,
    number: u64,
}

/// Starts two: one whose directories' rules disappear at the end of its call, and one without an
/// audit context, whose rules disappear during the removal of the directory.
pub fn start(shared: &'static Shared, seed: u64, round: u64) -> Vec<i32> {
    let run = move |id: u64| {
        let netlink = netlink::open().expect("a socket");
        let random = Random::new(seed, 200 + id, round);
        let mut remover = Remover { shared, id, random, netlink, number: round << 32 };
        while shared.is_running() {
            if let Err(error) = remover.remove_something() {
                shared.fault(&format!("remover {id}: {error}"));
                return;
            }
        }
    };
    let with = spawn(move || run(0));
    let without = spawn(move || {
        become_user(0, NO_CONTEXT);
        // The rule looks at the creating process; so the child has no context.
        if !wait(spawn(move || run(1))) {
            shared.fault("the remover without context has died");
        }
    });
    vec![with, without]
}

/// The rule that leaves the second one without a context.
pub fn rule() -> Rule {
    Rule::new(TASK, NEVER).all_calls().number(field::GID, EQUAL, NO_CONTEXT).key("no-context")
}

impl Remover {
    fn remove_something(&mut self) -> io::Result<()> {
        match self.random.below(5) {
            0 | 1 => self.directory(),
            2 => self.file_system(),
            3 => self.executable(),
            _ => self.watched(),
        }
    }

    /// Loads some rules; the conditions come from `place`.
    fn load(&mut self, place: impl Fn(Rule) -> Rule) -> io::Result<Vec<Vec<u8>>> {
        let mut loaded = Vec::new();
        for _ in 0..=self.random.below(3) {
            let mut rule = Rule::new(EXIT, ALWAYS);
            if self.random.chance(30) {
                rule = rule.in_front();
            }
            rule = if self.random.chance(50) { rule.all_calls() } else { rule.call(2).call(21) };
            if self.random.chance(50) {
                rule = rule.number(field::ARCH, EQUAL, B64);
            }
            self.number += 1;
            let key = format!("e{}-{}", self.id, self.number);
            let user = 3000 + self.random.below(4);
            let rule = place(rule).number(field::UID, EQUAL, user);
            let bytes = rule.key(&key).bytes();
            match self.netlink.add(&bytes) {
                Ok(()) => {
                    self.shared.count(Count::Added);
                    loaded.push(bytes);
                }
                // The watched object may still be about to disappear.
                Err(error) if is_errno(&error, &[libc::ENOENT]) => {
                    self.shared.count(Count::Refused);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(loaded)
    }

    /// Deletes rules that have disappeared, or are about to.
    fn unload(&mut self, rules: &[Vec<u8>]) -> io::Result<()> {
        for rule in rules {
            match self.netlink.delete(rule) {
                Ok(()) => self.shared.count(Count::Deleted),
                Err(error) if is_errno(&error, &[libc::ENOENT, libc::ENOTDIR]) => {
                    self.shared.count(Count::Absent);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn directory(&mut self) -> io::Result<()> {
        let path = format!("/storm/e{}/d{}", self.id, self.random.below(4));
        let inner = format!("{path}/inner");
        fs::create_dir_all(&inner)?;
        fs::write(format!("{path}/f"), "")?;
        let kind = self.random.below(4);
        let dir = |rule: Rule| rule.text(field::DIR, EQUAL, &path);
        let mut rules = self.load(dir)?;
        rules.extend(match kind {
            0 => self.load(|rule| dir(rule).text(field::EXE, EQUAL, "/storm/noop"))?,
            1 => self.load(|rule| dir(rule).text(field::SUBJ_TYPE, EQUAL, "base_t"))?,
            2 => self.load(|rule| rule.text(field::DIR, EQUAL, &inner))?,
            _ => Vec::new(),
        });
        open_close(&CPath::new(&format!("{path}/f")), 0, 0);
        if self.random.chance(20) {
            let elsewhere = format!("{path}-moved");
            fs::rename(&path, &elsewhere)?;
            remove(&elsewhere)?;
        } else {
            remove(&path)?;
        }
        self.shared.count(Count::Directories);
        self.unload(&rules)
    }

    fn file_system(&mut self) -> io::Result<()> {
        let path = format!("/storm/m{}", self.id);
        fs::create_dir_all(&path)?;
        mount("none", &path, "tmpfs", MountFlags::empty(), None)?;
        fs::create_dir(format!("{path}/a"))?;
        fs::write(format!("{path}/f"), "")?;
        let mut rules = self.load(|rule| rule.text(field::DIR, EQUAL, &path))?;
        rules.extend(self.load(|rule| rule.text(field::DIR, EQUAL, &format!("{path}/a")))?);
        if self.random.chance(30) {
            rules.extend(self.load(|rule| rule.text(field::WATCH, EQUAL, &format!("{path}/f")))?);
        }
        open_close(&CPath::new(&format!("{path}/f")), 0, 0);
        let now = self.random.chance(50) && unmount(&*path, UnmountFlags::empty()).is_ok();
        if !now {
            unmount(&*path, UnmountFlags::DETACH)?;
        }
        if self.random.chance(30) {
            self.netlink.trim()?;
            self.shared.count(Count::Trimmed);
        }
        self.shared.count(Count::Mounts);
        self.unload(&rules)
    }

    fn executable(&mut self) -> io::Result<()> {
        let path = format!("/storm/x{}", self.id);
        fs::create_dir_all(&path)?;
        let program = format!("{path}/program");
        remove_file(&program)?;
        fs::hard_link("/storm/noop", &program)?;
        let exe = |rule: Rule| rule.text(field::EXE, EQUAL, &program);
        let mut rules = self.load(exe)?;
        if self.random.chance(50) {
            // At each change of the policy a copy replaces them, and with them the mark.
            let lsm = |rule| exe(rule).text(field::SUBJ_TYPE, EQUAL, "base_t");
            rules.extend(self.load(lsm)?);
            rules.extend(self.load(|rule| lsm(rule).number(field::INODE, EQUAL, 100_000))?);
            crate::child::pause(u64::from(self.random.below(100)));
        }
        execute(&CPath::new(&program), 0);
        if self.random.chance(50) {
            let fresh = format!("{path}/fresh");
            remove_file(&fresh)?;
            fs::hard_link("/storm/noop", &fresh)?;
            fs::rename(&fresh, &program)?;
        }
        if self.random.chance(50) {
            fs::remove_file(&program)?;
            fs::write(&program, "")?;
        }
        if self.random.chance(60) {
            remove(&path)?;
        }
        self.shared.count(Count::Executables);
        self.unload(&rules)
    }

    fn watched(&mut self) -> io::Result<()> {
        let path = format!("/storm/p{}/f", self.random.below(REPLACED));
        let fresh = format!("{path}-{}", self.id);
        fs::write(&fresh, "")?;
        fs::rename(&fresh, &path)?;
        if self.random.chance(30) {
            remove_file(&path)?;
            fs::write(&path, "")?;
        }
        let folder = format!("/storm/v{}", self.id);
        fs::create_dir_all(&folder)?;
        let file = format!("{folder}/f");
        let rules = self.load(|rule| rule.text(field::WATCH, EQUAL, &file))?;
        fs::write(&file, "")?;
        remove(&folder)?;
        self.shared.count(Count::Watched);
        self.unload(&rules)
    }
}

/// Removes a directory and its content, including files that others create meanwhile.
fn remove(path: &str) -> io::Result<()> {
    for _ in 0..20 {
        match fs::remove_dir_all(path) {
            Err(error) if Path::new(path).exists() => {
                if !is_errno(&error, &[libc::ENOTEMPTY, libc::ENOENT]) {
                    return Err(error);
                }
            }
            _ => return Ok(()),
        }
    }
    say(&format!("{path} did not become empty"));
    Ok(())
}

fn remove_file(path: &str) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if !is_errno(&error, &[libc::ENOENT]) => Err(error),
        _ => Ok(()),
    }
}
