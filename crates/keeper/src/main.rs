//! Changes a machine that others use, for as long as something is measured there, and undoes it.
//!
//! What was there is in a journal before anything is changed. Whoever comes next undoes what an
//! interrupted run left: the guard, a unit of systemd at the next boot, `hardcost restore`, or the
//! next run.

mod auditing;
mod before;
mod coupled;
mod desk;
mod entry;
mod failure;
mod files;
mod grub;
mod guard;
mod hold;
mod journal;
mod ledger;
mod lines;
mod mounts;
mod oneboot;
mod people;
mod restore;
mod running;
mod said;
mod status;
mod thing;
mod undo;
mod units;
mod wanted;

use std::io::Read;
use std::process::ExitCode;

use failure::Result;
use restore::Given;

const USAGE: &str = "usage: hardcost-keeper VERB\n\n\
    hold              change what the first line of standard input says, and undo it when that ends\n\
    boot              reboot once with the words that the first line of standard input says\n\
    stay SECONDS      as long as lines come: say that somebody wants the boot that runs\n\
    where             say which boot runs\n\
    words BOOT        say what boots after that one left in logs\n\
    guard             undo what is left when standard input ends before a line came\n\
    attend SECONDS    at boot: undo what is left, and end a boot that nobody wants any more\n\
    restore [--force] [--people] [--booted]\n    \
                  undo what an interrupted run left; standard input may bring a journal of it,\n    \
                  of a boot if so said";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let second = words.get(1).map(String::as_str).unwrap_or_default();
    let seconds = second.parse().unwrap_or(60.0);
    let done = match words.first().map(String::as_str) {
        Some("hold") => hold::hold(),
        Some("boot") => oneboot::boot(),
        Some("guard") => guard::guard(),
        Some("stay") => told(&oneboot::stay(seconds)),
        Some("where") => told(&oneboot::tell()),
        Some("words") => told(&oneboot::last_words(second)),
        Some("attend") => oneboot::attend(seconds).unwrap_or_else(|failure| told(&Err(failure))),
        Some("restore") => restored(&words),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    if done { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn restored(words: &[String]) -> bool {
    let has = |word: &str| words.iter().any(|one| one == word);
    let mut given = Given { content: Vec::new(), boot: has("--booted") };
    let _ = std::io::stdin().read_to_end(&mut given.content);
    let done = restore::restore(has("--force"), has("--people"), Some(&given));
    let (problems, left) = (done.problems, done.left);
    let done = problems.is_empty();
    said::say(&said::Said::Released { problems, left, asked: true });
    done
}

/// Whether something was done; if not, says why.
fn told(done: &Result<()>) -> bool {
    if let Err(failure) = done {
        said::say(&said::Said::Failed { message: failure.to_string() });
    }
    done.is_ok()
}
