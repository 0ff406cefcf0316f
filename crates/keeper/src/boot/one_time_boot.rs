//! A boot with further words on its command line, for as long as somebody wants it.
//!
//! An entry beside the machine's own is booted once. As soon as it has booted, the boot loader's
//! files are what they were: the next boot is the machine's own, whatever causes it. A boot that
//! nobody wants any more is ended by the machine itself.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use serde::Deserialize;

use crate::before::{limit, ordered, taken, written_down};
use crate::desk::{self, Desk};
use crate::entry::{Change, Entry, Kind, Made};
use crate::failure::{Failure, Result, at};
use crate::files::{self, New};
use crate::grub::{self, Model};
use crate::guard::Guard;
use crate::journal::Journal;
use crate::lines::Lines;
use crate::restore::{Outcome, restore_at_boot};
use crate::running::{self, TOKEN};
use crate::said::{Said, say, say_lines};
use crate::thing;
use crate::undo::undo;

/// What a kernel that panics, or finds no root, does after so many seconds: it reboots.
const PANIC: &str = "panic=30";
/// The name of the boot in a journal.
const BOOT: &str = "boot";
/// Where it is written when somebody was heard last: seconds since the boot.
const HEARD: &str = "/run/hardcost-heard";
/// How much longer than usual nobody may be heard at first: ssh may be slow to come up.
const AT_FIRST: f64 = 3.0;
const SECOND: Duration = Duration::from_secs(1);
/// How long a machine may take to go down until it is made to.
const GOING_DOWN: Duration = Duration::from_secs(300);
/// How much of a log is repeated: lines, bytes.
const LINES: &str = "--lines=60";
const MOST_BYTES: usize = 8 << 10;

/// The first line: for which run, how many seconds without a line are too many, and the words.
/// `token` names the boot. `people`: also where users are logged in. `kernel` is the release of the
/// one that boots, if that is not the one that runs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Order {
    run: String,
    limit: f64,
    token: String,
    #[serde(default)]
    people: bool,
    #[serde(default)]
    kernel: Option<String>,
    parameters: Vec<String>,
}

/// Reboots the machine into an entry with further words; whether it does.
pub fn boot() -> bool {
    let failed = match armed(&mut Lines::default()) {
        Ok(true) => return true,
        Ok(false) => Said::Failed { message: "nobody said that it is to be done".into() },
        Err(failure) => failure.into(),
    };
    say(&failed);
    false
}

fn armed(lines: &mut Lines) -> Result<bool> {
    let order: Order = ordered(lines)?;
    let desk = taken(order.people)?;
    if running::token()?.is_some() || !is_settled(&desk)? {
        return Err(Failure::Unfit(
            "an interrupted run's boot is not undone yet: `hardcost restore` does it".into(),
        ));
    }
    let line = running::line()?;
    let model = order.kernel.as_deref().map_or(Model::Running(&line), Model::Kernel);
    let written = grub::once(&model, &words(&order, &line))?;
    let mut before = vec![thing::look(Kind::Boot, BOOT)?];
    for (path, content) in &written {
        let path = files::resolved(&path.to_string_lossy())?;
        // GRUB itself changes its environment.
        let wanted = (!grub::is_environment(&path)).then(|| content.clone());
        before.push(Change { wanted, ..thing::look(Kind::File, &path)? });
    }
    let (path, olds) = (Desk::boot_journal(), before.clone());
    let waiting = (order.limit, lines);
    let Some(mut journal) = written_down(&path, &desk, &order.run, before, waiting)? else {
        return Ok(false);
    };
    let guard = Guard::start()?;
    let numbers = 0..journal.changes().len();
    say_lines(
        numbers.map(|number| journal.write(&Entry::Making { number })).collect::<Result<_>>()?,
    );
    journal.sync()?;
    for ((_, content), was) in written.into_iter().zip(&olds[1..]) {
        thing::fill(was, &content, was.mode.unwrap_or(0o600), journal.token())?;
    }
    made(&mut journal, &order.token)?;
    say(&Said::Rebooting);
    guard.reboot()?;
    Ok(true)
}

/// Whether nothing is left of an earlier boot, but for what somebody else has changed since.
fn is_settled(desk: &Desk) -> Result<bool> {
    let Some(mut left) = desk.left(&Desk::boot_journal())? else { return Ok(true) };
    let done = undo(&mut left, &desk::boot()?, false)?;
    let is_settled = done.problems.is_empty() && !done.reboot;
    if is_settled {
        desk.finish(&left)?;
    }
    Ok(is_settled)
}

/// Notes what was made. GRUB's environment is left out: GRUB itself changes it.
fn made(journal: &mut Journal, token: &str) -> Result<()> {
    let boot = thing::look(Kind::Boot, BOOT)?;
    let boot = Made::of(0, Change { before: Some(token.into()), ..boot });
    let entry = &journal.changes()[1].change;
    let entry = Made::of(1, thing::look(entry.kind, &entry.name)?);
    let mut lines = vec![journal.write(&Entry::Made(boot))?];
    lines.push(journal.write(&Entry::Made(entry))?);
    journal.sync()?;
    say_lines(lines);
    Ok(())
}

/// What the command line gets besides.
fn words(order: &Order, running: &str) -> Vec<String> {
    let names_panic = |word: &str| word.starts_with("panic=");
    let mut words = order.parameters.clone();
    if !words.iter().any(|word| names_panic(word)) && !running.split(' ').any(names_panic) {
        words.push(PANIC.into());
    }
    words.push(format!("{TOKEN}{}", order.token));
    words
}

/// Says which boot runs.
pub fn tell() -> Result<()> {
    let path = Path::new("/proc/sys/kernel/osrelease");
    let release = fs::read_to_string(path).map_err(at(path))?.trim().to_owned();
    say(&Said::Where { boot: desk::boot()?, token: running::token()?, release });
    Ok(())
}

/// Notes that somebody is heard, for as long as lines come.
pub fn stay(seconds: f64) -> Result<()> {
    let (mut lines, token) = (Lines::default(), files::token()?);
    loop {
        let path = Path::new(HEARD);
        let text = running::uptime()?.to_string();
        files::put(path, &New::of_root(text.as_bytes(), 0o600), &token)?;
        if lines.next(limit(seconds), None)?.is_none() {
            return Ok(());
        }
    }
}

/// Restores the machine when it has booted; in a boot that is not its own, waits until nobody was
/// heard for so many seconds, and reboots. Whether all is undone.
pub fn attend(seconds: f64) -> Result<bool> {
    let (Outcome { problems, left, .. }, ours) = restore_at_boot();
    let done = problems.is_empty();
    say(&Said::Released { problems, left, asked: true });
    if !ours {
        return Ok(done);
    }
    let begun = running::uptime()?;
    while running::uptime()? - heard().unwrap_or(begun + seconds * (AT_FIRST - 1.0)) < seconds {
        sleep(SECOND);
    }
    running::reboot()?;
    sleep(GOING_DOWN);
    // What does not end is ended: nobody can do it by hand.
    let _ = Command::new("systemctl").args(["reboot", "--force"]).status();
    Ok(false)
}

fn heard() -> Option<f64> {
    fs::read_to_string(HEARD).ok()?.trim().parse().ok()
}

/// Says what the boots left in logs that came after one, but for the running one.
pub fn last_words(after: &str) -> Result<()> {
    let plain = |id: &str| id.replace('-', "");
    let said = |words: &[&str]| {
        let done = Command::new("journalctl").args(words).stdin(Stdio::null()).output();
        done.map(|done| String::from_utf8_lossy(&done.stdout).into_owned()).unwrap_or_default()
    };
    let list = said(&["--list-boots", "--no-pager", "--quiet"]);
    let all: Vec<_> = list.lines().filter_map(|line| line.split_whitespace().nth(1)).collect();
    let (first, now) = (plain(after), plain(&desk::boot()?));
    let since = all.iter().position(|&id| id == first).map_or(&[][..], |at| &all[at + 1..]);
    let mut text = String::new();
    for id in since.iter().filter(|&&id| id != now) {
        let boot = format!("--boot={id}");
        text += &said(&[&boot, "--no-pager", "--quiet", "--output=short-monotonic", LINES]);
    }
    for path in crashes() {
        text += &String::from_utf8_lossy(&fs::read(&path).unwrap_or_default());
    }
    let start = text.char_indices().map(|(at, _)| at).find(|&at| text.len() - at <= MOST_BYTES);
    say(&Said::Words { text: text[start.unwrap_or(text.len())..].to_owned() });
    Ok(())
}

/// What kernels that crashed since the boot was asked for have left.
fn crashes() -> Vec<PathBuf> {
    let journals = [Desk::boot_journal(), Desk::last(&Desk::boot_journal())];
    let written = |path: &Path| fs::metadata(path).ok()?.modified().ok();
    let Some(asked) = journals.iter().find_map(|path| written(path)) else { return Vec::new() };
    let folders = ["/sys/fs/pstore", "/var/lib/systemd/pstore"].into_iter();
    let found = folders.filter_map(|folder| fs::read_dir(folder).ok()).flatten();
    let mut paths: Vec<_> = found.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.is_file() && written(path).is_some_and(|at| at >= asked));
    paths.sort();
    paths
}

#[cfg(test)]
mod tests {
    use super::{Order, words};

    fn order(parameters: &[&str]) -> Order {
        Order {
            run: "r".into(),
            limit: 60.0,
            token: "t".into(),
            people: false,
            kernel: None,
            parameters: parameters.iter().map(|&word| word.to_owned()).collect(),
        }
    }

    #[test]
    fn a_kernel_that_panics_reboots_unless_it_was_said_what_it_does() {
        assert_eq!(words(&order(&["a=b"]), "ro"), ["a=b", "panic=30", "hardcost.boot=t"]);
        assert_eq!(words(&order(&["panic=5"]), "ro"), ["panic=5", "hardcost.boot=t"]);
        assert_eq!(words(&order(&[]), "ro panic=-1"), ["hardcost.boot=t"]);
    }
}
