//! `hardcost-probe serve` with copies of the measured process on other processors.

#![allow(clippy::disallowed_methods, reason = "a test has nothing to look after")]

use std::fs;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

mod processors;
mod programs;

use processors::processors;

/// One test at a time: each takes two processors.
static PROCESSORS: Mutex<()> = Mutex::new(());

/// Waits for its turn; `None`: there is one processor alone, and nothing to be tried.
fn turn() -> Option<MutexGuard<'static, ()>> {
    let turn = PROCESSORS.lock().unwrap_or_else(PoisonError::into_inner);
    (processors().len() > 1).then_some(turn)
}

/// Starts a job of calls, with so many copies of each.
fn start(calls: &[Value], copies: u32) -> Child {
    let job = json!({"do": "calls", "clock": "monotonic", "calls": calls, "copies": copies});
    let mut probe = programs::probe()
        .args(["serve", "600"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the probe starts");
    let mut input = probe.stdin.take().expect("a pipe");
    input.write_all(job.to_string().as_bytes()).expect("the probe reads");
    probe
}

/// All answers, once it has ended.
fn answers(mut probe: Child) -> Vec<Value> {
    let mut text = String::new();
    probe.stdout.take().expect("a pipe").read_to_string(&mut text).expect("text");
    probe.wait().expect("ended");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn plan(name: &str, samples: u32) -> Value {
    json!({"name": name, "batch": 16, "samples": samples, "warmup": 1, "apart": 0})
}

/// What `/proc` says of a process in a line.
struct Stat {
    parent: i32,
    state: String,
    /// How long it ran, in ticks.
    ran: u64,
    /// When it was started, in ticks since the boot.
    started: u64,
}

fn stat(pid: i32) -> Option<Stat> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let words: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |at: usize| words.get(at)?.parse::<u64>().ok();
    Some(Stat {
        parent: words.get(1)?.parse().ok()?,
        state: (*words.first()?).to_owned(),
        ran: number(11)? + number(12)?,
        started: number(19)?,
    })
}

/// The measured processes that a probe has started, the first first.
fn started_by(probe: &Child) -> Vec<i32> {
    let own = i32::try_from(probe.id()).expect("an id");
    let entries = fs::read_dir("/proc").expect("a listing").flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let children = ids.filter_map(|pid| stat(pid).filter(|one| one.parent == own).zip(Some(pid)));
    let mut found: Vec<(u64, i32)> = children.map(|(one, pid)| (one.started, pid)).collect();
    found.sort_unstable(); // numbers begin again from 300 after the largest
    found.into_iter().map(|(_, pid)| pid).collect()
}

/// The folder that a probe made for a measured process, once the process is in it. Until then the
/// process is where the probe was started, which may be anywhere below `/tmp`.
fn work_folder(pid: i32) -> Option<PathBuf> {
    let folder = fs::read_link(format!("/proc/{pid}/cwd")).ok()?;
    folder.to_str()?.strip_prefix("/tmp/work.")?.parse::<u32>().ok()?;
    Some(folder)
}

/// Waits for something, a minute at most.
fn until<T>(what: impl Fn() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(found) = what() {
            return found;
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "it does not come");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The first companion of a job that takes long, once it makes calls.
fn companion(probe: &Child) -> i32 {
    until(|| match started_by(probe)[..] {
        // The measured process comes when all companions are at work.
        [companion, _] => Some(companion),
        _ => None,
    })
}

fn kill(pid: i32) {
    kill_process(Pid::from_raw(pid).expect("a process"), Signal::KILL).expect("killed");
}

fn is_gone(pid: i32) -> bool {
    stat(pid).is_none_or(|one| one.state == "Z")
}

#[test]
fn every_call_is_made_beside_the_measured_one_on_another_processor() {
    let Some(_turn) = turn() else { return };
    let processors = processors();
    let listing = programs::probe().arg("list").output().expect("the probe starts");
    let listing: Value = serde_json::from_slice(&listing.stdout).expect("JSON");
    let names = listing["calls"].as_array().expect("a list").iter();
    let calls: Vec<_> = names.map(|name| plan(name.as_str().expect("a name"), 33)).collect();
    let answers = answers(start(&calls, 2));
    assert_eq!(answers.len(), calls.len() + 3, "{:?}", answers.last());
    // Others may have the processor just while one call is measured.
    let mut ran_in_all = 0;
    for answer in &answers[2..2 + calls.len()] {
        let companions = answer["companions"].as_object().expect("an object");
        let [(cpu, ran)] = companions.iter().collect::<Vec<_>>()[..] else { panic!("{answer}") };
        assert_eq!(*cpu, processors[0].to_string());
        ran_in_all += ran.as_u64().expect("a number");
        assert_eq!(answer["samples"].as_array().map(Vec::len), Some(33));
    }
    assert!(ran_in_all > 1_000_000, "{answers:?}");
}

#[test]
fn a_companion_runs_all_the_while_and_is_held_on_its_processor() {
    let Some(_turn) = turn() else { return };
    let processors = processors();
    let probe = start(&[plan("null", 200_000)], 2);
    let companion = companion(&probe);
    let status = fs::read_to_string(format!("/proc/{companion}/status")).expect("it lives");
    let held = format!("Cpus_allowed_list:\t{}\n", processors[0]);
    assert!(status.contains(&held), "{status}");
    // It never gives the processor up: who waits for nothing is only ever interrupted.
    let switches = |text: &str| {
        let line = text.lines().find(|line| line.starts_with("voluntary_ctxt_switches"));
        line.and_then(|line| line.split_whitespace().nth(1)).map(str::to_owned)
    };
    let before = switches(&status);
    let ran = stat(companion).expect("it lives").ran;
    until(|| stat(companion).filter(|now| now.ran >= ran + 20));
    let status = fs::read_to_string(format!("/proc/{companion}/status")).expect("it lives");
    assert!(before.is_some() && switches(&status) == before, "{status}");
    let answers = answers(probe);
    assert_eq!(answers.last(), Some(&json!({"event": "end"})));
    assert!(is_gone(companion));
}

#[test]
fn more_copies_than_processors_are_refused_with_their_number() {
    let answers = answers(start(&[plan("null", 1)], 4000));
    let there =
        format!("4000 copies need as many processors, and there are {}", processors().len());
    assert_eq!(answers[1]["message"], there);
}

#[test]
fn a_companion_that_ends_early_is_an_error() {
    let Some(_turn) = turn() else { return };
    let probe = start(&[plan("null", 200_000)], 2);
    kill(companion(&probe));
    let answers = answers(probe);
    let message = answers[answers.len() - 2]["message"].as_str().expect("text");
    assert!(message.contains("measured process ended early, signal: 9"), "{answers:?}");
}

#[test]
fn a_folder_below_tmp_is_no_work_folder_unless_it_has_the_name_of_one() {
    let clone = tempfile::tempdir_in("/tmp").expect("room");
    let below = clone.path().join("work.1");
    fs::create_dir(&below).expect("room");
    for folder in [clone.path(), &below] {
        let mut sleeper =
            Command::new("sleep").arg("60").current_dir(folder).spawn().expect("it starts");
        let pid = i32::try_from(sleeper.id()).expect("an id");
        assert_eq!(work_folder(pid), None);
        sleeper.kill().and_then(|()| sleeper.wait()).expect("killed");
    }
}

#[test]
fn companions_end_with_a_probe_that_is_killed() {
    let Some(_turn) = turn() else { return };
    let mut probe = start(&[plan("fork", 200_000)], 2);
    let companion = companion(&probe);
    let started = started_by(&probe);
    let folders: Vec<_> = started.iter().map(|&pid| until(|| work_folder(pid))).collect();
    probe.kill().and_then(|()| probe.wait()).expect("killed");
    until(|| is_gone(companion).then_some(()));
    // The measured process ends by itself, after its last window.
    started.into_iter().filter(|&pid| !is_gone(pid)).for_each(kill);
    for folder in folders {
        fs::remove_dir(folder).expect("empty, since fork makes no files");
    }
}
