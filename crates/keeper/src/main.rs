//! Changes a machine that others use, for as long as something is measured there, and undoes it.
//!
//! What was there is in a journal before anything is changed. Whoever comes next undoes what an
//! interrupted run left: the guard, a unit of systemd at the next boot, `hardcost restore`, or the
//! next run.

mod auditing;
mod coupled;
mod desk;
mod entry;
mod failure;
mod hold;
mod journal;
mod lines;
mod mounts;
mod people;
mod status;
mod thing;
mod undo;
mod units;
mod wanted;

use std::io::Read;
use std::process::ExitCode;

const USAGE: &str = "usage: hardcost-keeper hold | guard | restore [--boot] [--force] [--people]\n\n\
    hold     change what the first line of standard input says, and undo it when that ends\n\
    guard    undo what is left when standard input ends before a line came\n\
    restore  undo what an interrupted run left; standard input may bring a journal of it";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let has = |word: &str| words.iter().any(|one| one == word);
    let done = match words.first().map(String::as_str) {
        Some("hold") => hold::hold(),
        Some("guard") => hold::guard(),
        Some("restore") => {
            let mut given = Vec::new();
            if !has("--boot") {
                let _ = std::io::stdin().read_to_end(&mut given);
            }
            let problems = hold::restore(has("--force"), has("--boot") || has("--people"), &given);
            let done = problems.is_empty();
            hold::say(&hold::Said::Released { problems, asked: true });
            done
        }
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    if done { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
