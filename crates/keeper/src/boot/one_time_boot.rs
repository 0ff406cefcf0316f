//! A boot with further words on its command line, for as long as the other side wants it.
//!
//! An entry beside the machine's own one is booted once. As soon as it has booted, the boot
//! loader's files are restored, so the next boot is the machine's own, for any reason. The machine
//! itself ends a boot that is no longer wanted.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use serde::Deserialize;

use crate::boot::grub::{self, ModelEntry};
use crate::boot::running_boot::{self, TOKEN};
use crate::change_setup::{begin_journal, duration, read_order, take_folder};
use crate::changes::kinds;
use crate::changes::undo::undo;
use crate::events::{Event, send, send_journal_lines};
use crate::failure::{Failure, Result, at};
use crate::guard_process::Guard;
use crate::journal::entry::Entry;
use crate::journal::file::Journal;
use crate::journal::state::{Change, Kind, StateAfter};
use crate::restore::{Outcome, restore_at_boot};
use crate::safe_files::{self, NewFile};
use crate::state_folder::{self, StateFolder};
use crate::stdio_lines::InputLines;

/// Makes a kernel that panics, or finds no root, reboot after so many seconds.
const PANIC: &str = "panic=30";
/// The name of the boot in a journal.
const BOOT: &str = "boot";
/// The file with the time when the other side was heard last, in seconds since the boot.
const HEARD: &str = "/run/hardcost-heard";
/// How much longer than usual the silence may be at first: ssh may start slowly.
const AT_FIRST: f64 = 3.0;
const SECOND: Duration = Duration::from_secs(1);
/// How long a machine may take to go down before it is forced to.
const GOING_DOWN: Duration = Duration::from_secs(300);
/// How much of a log is sent: lines, bytes.
const LINES: &str = "--lines=60";
const MOST_BYTES: usize = 8 << 10;

/// The first line: the run, how many seconds of silence end the boot, and the words. `token` names
/// the boot. `people`: also if users are logged in. `kernel` is the release of the kernel to boot,
/// if it is not the running one.
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

/// Reboots the machine into an entry with further words. Returns whether it does.
pub fn boot() -> bool {
    let failed = match prepare_and_reboot(&mut InputLines::default()) {
        Ok(true) => return true,
        Ok(false) => Event::Failed { message: "the reboot was not confirmed".into() },
        Err(failure) => failure.into(),
    };
    send(&failed);
    false
}

fn prepare_and_reboot(lines: &mut InputLines) -> Result<bool> {
    let order: Order = read_order(lines)?;
    let folder = take_folder(order.people)?;
    if running_boot::token()?.is_some() || !is_settled(&folder)? {
        return Err(Failure::Unfit(
            "an interrupted run's boot is not undone yet: `hardcost restore` does it".into(),
        ));
    }
    let line = running_boot::line()?;
    let model = order.kernel.as_deref().map_or(ModelEntry::Running(&line), ModelEntry::Kernel);
    let written = grub::files_for_one_boot(&model, &words(&order, &line))?;
    let mut before = vec![kinds::current_state(Kind::Boot, BOOT)?];
    for (path, content) in &written {
        let path = safe_files::resolved(&path.to_string_lossy())?;
        // GRUB itself changes its environment.
        let wanted = (!grub::is_environment(&path)).then(|| content.clone());
        before.push(Change { wanted, ..kinds::current_state(Kind::File, &path)? });
    }
    let (path, olds) = (StateFolder::boot_journal(), before.clone());
    let waiting = (order.limit, lines);
    let Some(mut journal) = begin_journal(&path, &folder, &order.run, before, waiting)? else {
        return Ok(false);
    };
    let guard = Guard::start()?;
    let numbers = 0..journal.changes().len();
    send_journal_lines(
        numbers.map(|number| journal.write(&Entry::Making { number })).collect::<Result<_>>()?,
    );
    journal.sync()?;
    for ((_, content), was) in written.into_iter().zip(&olds[1..]) {
        kinds::write_file(was, &content, was.mode.unwrap_or(0o600), journal.token())?;
    }
    journal_made(&mut journal, &order.token)?;
    send(&Event::Rebooting);
    guard.reboot()?;
    Ok(true)
}

/// Whether nothing is left of an earlier boot, except for what others have changed since.
fn is_settled(folder: &StateFolder) -> Result<bool> {
    let Some(mut left) = folder.left(&StateFolder::boot_journal())? else { return Ok(true) };
    let done = undo(&mut left, &state_folder::boot()?, false)?;
    let is_settled = done.problems.is_empty() && !done.reboot;
    if is_settled {
        folder.finish(&left)?;
    }
    Ok(is_settled)
}

/// Notes in the journal what was made. GRUB's environment is left out, since GRUB itself changes
/// it.
fn journal_made(journal: &mut Journal, token: &str) -> Result<()> {
    let boot = kinds::current_state(Kind::Boot, BOOT)?;
    let boot = StateAfter::of(0, Change { before: Some(token.into()), ..boot });
    let entry = &journal.changes()[1].change;
    let entry = StateAfter::of(1, kinds::current_state(entry.kind, &entry.name)?);
    let mut lines = vec![journal.write(&Entry::Made(boot))?];
    lines.push(journal.write(&Entry::Made(entry))?);
    journal.sync()?;
    send_journal_lines(lines);
    Ok(())
}

/// The further words on the command line.
fn words(order: &Order, running: &str) -> Vec<String> {
    let names_panic = |word: &str| word.starts_with("panic=");
    let mut words = order.parameters.clone();
    if !words.iter().any(|word| names_panic(word)) && !running.split(' ').any(names_panic) {
        words.push(PANIC.into());
    }
    words.push(format!("{TOKEN}{}", order.token));
    words
}

/// Sends which boot runs.
pub fn report_boot() -> Result<()> {
    let path = Path::new("/proc/sys/kernel/osrelease");
    let release = fs::read_to_string(path).map_err(at(path))?.trim().to_owned();
    send(&Event::Where { boot: state_folder::boot()?, token: running_boot::token()?, release });
    Ok(())
}

/// Notes that the other side is heard, for as long as lines come.
pub fn keep_alive(seconds: f64) -> Result<()> {
    let (mut lines, token) = (InputLines::default(), safe_files::token()?);
    loop {
        let path = Path::new(HEARD);
        let text = running_boot::uptime()?.to_string();
        safe_files::put(path, &NewFile::of_root(text.as_bytes(), 0o600), &token)?;
        if lines.next(duration(seconds), None)?.is_none() {
            return Ok(());
        }
    }
}

/// Restores the machine after it has booted. In a boot that is not its own, waits for so many
/// seconds of silence, and reboots. Returns whether all is undone.
pub fn attend(seconds: f64) -> Result<bool> {
    let (Outcome { problems, left, .. }, ours) = restore_at_boot();
    let done = problems.is_empty();
    send(&Event::Released { problems, left, asked: true });
    if !ours {
        return Ok(done);
    }
    let begun = running_boot::uptime()?;
    while running_boot::uptime()? - last_heard().unwrap_or(begun + seconds * (AT_FIRST - 1.0))
        < seconds
    {
        sleep(SECOND);
    }
    running_boot::reboot()?;
    sleep(GOING_DOWN);
    // A boot that does not end is forced to: no user may be there to do it.
    let _ = Command::new("systemctl").args(["reboot", "--force"]).status();
    Ok(false)
}

fn last_heard() -> Option<f64> {
    fs::read_to_string(HEARD).ok()?.trim().parse().ok()
}

/// Sends what the boots after one have left in logs, except for the running one.
pub fn boot_logs(after: &str) -> Result<()> {
    let plain = |id: &str| id.replace('-', "");
    let said = |words: &[&str]| {
        let done = Command::new("journalctl").args(words).stdin(Stdio::null()).output();
        done.map(|done| String::from_utf8_lossy(&done.stdout).into_owned()).unwrap_or_default()
    };
    let list = said(&["--list-boots", "--no-pager", "--quiet"]);
    let all: Vec<_> = list.lines().filter_map(|line| line.split_whitespace().nth(1)).collect();
    let (first, now) = (plain(after), plain(&state_folder::boot()?));
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
    send(&Event::Words { text: text[start.unwrap_or(text.len())..].to_owned() });
    Ok(())
}

/// Crash dumps since the boot was asked for.
fn crashes() -> Vec<PathBuf> {
    let journals = [StateFolder::boot_journal(), StateFolder::last(&StateFolder::boot_journal())];
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
