//! The keeper: changes a machine that others use, while something is measured there, and undoes
//! that.
//!
//! The state of everything is in a journal before it is changed. What an interrupted run left is
//! undone by whichever comes first: the guard, a unit of systemd at the next boot,
//! `hardcost restore`, or the next run. Whether a thing may be undone is decided in
//! `journal/state.rs`.
//!
//! - `temporary_changes.rs`: an order from its first line to the end, with its limit of silence
//! - `change_setup.rs`: the steps before the first change, refusing logged-in users among them
//! - `logins.rs`: which logins count, by utmp and by systemd's sessions
//! - `changes/`: all that can be changed but the boot, which is in `boot/`
//! - `journal/`: what is written before each change
//! - `safe_files.rs`: files read, written, compared and removed without following links; the
//!   largest
//! - `restore.rs`: undoes what an interrupted run left, and reports it
//! - `guard_process.rs`: calls `restore.rs` if the keeper is killed
//! - `state_folder.rs`: `/var/lib/hardcost`, its lock and how long to try for it, the unit of
//!   systemd
//! - `events.rs`: what is sent to the other side
//! - `stdio_lines.rs`: lines in and out, the longest, and how long the reader may take
//! - `failure.rs`: why a change or its undoing was not done
//!
//! In a guest the probe makes all changes (`crates/probe`).

mod boot;
mod change_setup;
mod changes;
mod events;
mod failure;
mod guard_process;
mod journal;
mod logins;
mod restore;
mod safe_files;
mod state_folder;
mod stdio_lines;
mod temporary_changes;

use std::io::Read;
use std::process::ExitCode;

use boot::one_time_boot;
use failure::Result;
use restore::GivenJournal;

const USAGE: &str = "usage: hardcost-keeper VERB\n\n\
    hold              change what the first line of standard input says, and undo it when that ends\n\
    boot              reboot once with the words that the first line of standard input says\n\
    stay SECONDS      as long as lines come: keep the boot that runs\n\
    where             say which boot runs\n\
    words BOOT        say what boots after that one left in logs\n\
    guard             undo what is left when standard input ends before a line came\n\
    attend SECONDS    at boot: undo what is left, and end a boot that is not wanted any more\n\
    restore [--force] [--people] [--booted]\n    \
                  undo what an interrupted run left; standard input may bring a journal of it,\n    \
                  of a boot if so said";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let second = words.get(1).map(String::as_str).unwrap_or_default();
    let seconds = second.parse().unwrap_or(60.0);
    let done = match words.first().map(String::as_str) {
        Some("hold") => temporary_changes::hold(),
        Some("boot") => one_time_boot::boot(),
        Some("guard") => guard_process::guard(),
        Some("stay") => report(&one_time_boot::keep_alive(seconds)),
        Some("where") => report(&one_time_boot::report_boot()),
        Some("words") => report(&one_time_boot::boot_logs(second)),
        Some("attend") => {
            one_time_boot::attend(seconds).unwrap_or_else(|failure| report(&Err(failure)))
        }
        Some("restore") => restore(&words),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    if done { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn restore(words: &[String]) -> bool {
    let has = |word: &str| words.iter().any(|one| one == word);
    let mut given = GivenJournal { content: Vec::new(), boot: has("--booted") };
    let _ = std::io::stdin().read_to_end(&mut given.content);
    let done = restore::restore(has("--force"), has("--people"), Some(&given));
    let (problems, left) = (done.problems, done.left);
    let done = problems.is_empty();
    events::send(&events::Event::Released { problems, left, asked: true });
    done
}

/// Sends the failure, if there is one. Returns whether there is none.
fn report(done: &Result<()>) -> bool {
    if let Err(failure) = done {
        events::send(&events::Event::Failed { message: failure.to_string() });
    }
    done.is_ok()
}
