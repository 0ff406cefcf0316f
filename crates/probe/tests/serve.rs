//! Runs `hardcost-probe` as a user would and judges its answers. Nothing of the host is changed.

#![allow(clippy::disallowed_methods, reason = "a test has nothing to look after")]

use std::io::Write;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

mod processors;
mod programs;

use processors::processors;

/// Lets `serve` do a job and returns its answers. Each must be a line of printable ASCII.
fn serve(job: &str) -> (Vec<Value>, Option<i32>) {
    serve_with(&[], job)
}

/// The same with further arguments.
fn serve_with(arguments: &[&str], job: &str) -> (Vec<Value>, Option<i32>) {
    let mut probe = programs::probe()
        .arg("serve")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the probe starts");
    let mut input = probe.stdin.take().expect("a pipe");
    input.write_all(job.as_bytes()).expect("the probe reads");
    drop(input);
    let Output { stdout, status, .. } = probe.wait_with_output().expect("the probe ends");
    assert!(stdout.iter().all(|&byte| byte == b'\n' || (0x20..0x7f).contains(&byte)));
    let lines = stdout.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    (lines.map(|line| serde_json::from_slice(line).expect("JSON")).collect(), status.code())
}

/// The answers to requests that all succeed, without the first and last line.
fn answers(requests: &[Value]) -> Vec<Value> {
    answers_with(&[], requests)
}

/// The same with further arguments of `serve`.
fn answers_with(arguments: &[&str], requests: &[Value]) -> Vec<Value> {
    let job: Vec<String> = requests.iter().map(Value::to_string).collect();
    let (mut all, status) = serve_with(arguments, &job.join("\n"));
    let hello = all.remove(0);
    assert_eq!(hello["event"], "hello");
    assert_eq!(hello["protocol"], 1);
    assert_eq!(hello["gap"], Value::Null);
    assert!(hello["kernel"].as_str().is_some_and(|kernel| !kernel.is_empty()));
    assert_eq!(all.pop(), Some(json!({"event": "end"})), "{all:?}");
    assert_eq!(status, Some(0), "{all:?}");
    all
}

/// The names of all calls.
fn names() -> Vec<String> {
    let output = programs::probe().arg("list").output().expect("the probe starts");
    let listing: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(listing["protocol"], 1);
    let calls = listing["calls"].as_array().expect("a list");
    calls.iter().map(|name| name.as_str().expect("a name").to_owned()).collect()
}

fn command(argv: &[&str]) -> Value {
    answers(&[json!({"do": "command", "argv": argv, "clock": "monotonic"})]).remove(0)
}

#[test]
fn every_call_is_measured_by_either_clock() {
    for clock in ["tsc", "monotonic"] {
        let names = names();
        let plan = |name: &String| json!({"name": name, "batch": 3, "samples": 5, "warmup": 1, "apart": 0});
        let calls: Vec<Value> = names.iter().map(plan).collect();
        let answers = answers(&[json!({"do": "calls", "clock": clock, "calls": calls})]);
        assert_eq!(answers[0]["event"], "clock");
        assert_eq!(answers[0]["clock"], clock);
        assert_eq!(answers[0]["overhead"].as_array().map(Vec::len), Some(33));
        assert_eq!(answers.len(), 1 + names.len());
        for (answer, name) in answers[1..].iter().zip(&names) {
            assert_eq!(answer["event"], "call");
            assert_eq!(answer["name"], *name);
            assert_eq!((&answer["clock"], &answer["batch"]), (&json!(clock), &json!(3)));
            let samples = answer["samples"].as_array().expect("a list");
            assert_eq!(samples.len(), 5);
            assert!(samples.iter().all(|ticks| ticks.as_u64().is_some_and(|ticks| ticks > 0)));
            assert_eq!(answer["audit"], Value::Null);
            assert_eq!(answer["output"], "");
        }
    }
}

#[test]
fn calls_run_as_an_ordinary_user_where_the_probe_may_choose() {
    let plan = json!({"name": "null", "batch": 1, "samples": 1, "warmup": 0, "apart": 0});
    let measured = answers(&[json!({"do": "calls", "clock": "tsc", "calls": [plan]})]);
    let id = command(&["id", "-u"]);
    let expected = if rustix::process::geteuid().is_root() {
        1000
    } else {
        rustix::process::getuid().as_raw()
    };
    assert_eq!(measured[1]["uid"], expected);
    assert_eq!(id["stdout"], format!("{expected}\n"));
}

#[test]
fn what_is_counted_comes_with_the_windows_it_was_counted_in() {
    let plan =
        |name: &str| json!({"name": name, "batch": 64, "samples": 40, "warmup": 1, "apart": 0});
    let events = ["task-clock", "page-faults", "context-switches"];
    // On one processor: where each process has its own, one may not have slept yet when it is woken.
    let processor = processors()[0].to_string();
    let answers = answers_with(
        &["60", &processor],
        &[
            json!({"do": "counters", "names": events}),
            json!({"do": "calls", "clock": "monotonic", "counters": events,
               "calls": [plan("null"), plan("page-fault"), plan("context-switch")]}),
        ],
    );
    assert_eq!(answers[0], json!({"event": "counters", "names": events, "refused": null}));
    let each = |answer: &Value, event: &str| {
        let counters = &answer["counters"];
        assert_eq!(counters["windows"], 10);
        assert_eq!(counters["enabled"], counters["running"]);
        let count = counters["counts"][event].as_f64().expect("a number");
        count / 640.0
    };
    assert!(each(&answers[2], "page-faults") < 0.5);
    let faults = each(&answers[3], "page-faults");
    assert!((1.0..1.5).contains(&faults), "{faults}");
    // A round trip is two switches, of which each of the two processes makes one.
    assert!(each(&answers[4], "context-switches") >= 1.9, "{answers:?}");
    assert!(answers[2..].iter().all(|one| one["samples"].as_array().map(Vec::len) == Some(40)));
}

#[test]
fn without_a_request_nothing_is_counted_and_nobody_is_beside() {
    let plan = json!({"name": "null", "batch": 1, "samples": 1, "warmup": 0, "apart": 0});
    let answers = answers(&[json!({"do": "calls", "clock": "tsc", "calls": [plan]})]);
    let fields = answers[1].as_object().expect("an object");
    assert!(!fields.contains_key("counters") && !fields.contains_key("companions"));
}

#[test]
fn the_probe_is_held_on_the_processor_that_is_named() {
    for cpu in processors() {
        let job =
            json!({"do": "read", "name": "status", "path": "/proc/self/status", "tail": 9999});
        let (all, status) = serve_with(&["60", &cpu.to_string()], &job.to_string());
        let text = all[1]["text"].as_str().expect("text");
        assert!(text.contains(&format!("Cpus_allowed_list:\t{cpu}\n")), "{text}");
        assert_eq!(status, Some(0));
    }
    let output = programs::probe().args(["serve", "60", "1023"]).output().expect("starts");
    assert!(output.stderr.starts_with(b"hardcost-probe: processor 1023: "), "{output:?}");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_command_reports_its_end_and_output() {
    let answer = command(&["sh", "-c", "echo out; echo err >&2; pwd; exit 3"]);
    assert_eq!(answer["event"], "command");
    assert_eq!((&answer["status"], &answer["signal"]), (&json!(3), &Value::Null));
    assert!(answer["ticks"].as_u64().is_some_and(|ticks| ticks > 0));
    let stdout = answer["stdout"].as_str().expect("text");
    assert!(stdout.starts_with("out\n/tmp/work."), "{stdout}");
    assert_eq!(answer["stdout_bytes"], stdout.len());
    assert_eq!((&answer["stderr"], &answer["stderr_bytes"]), (&json!("err\n"), &json!(4)));

    let killed = command(&["sh", "-c", "kill -9 $$"]);
    assert_eq!((&killed["status"], &killed["signal"]), (&Value::Null, &json!(9)));
}

#[test]
fn a_command_accounts_for_its_own_processor_time_and_that_of_its_children() {
    let script = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";
    let busy = format!("({script}); :");
    // A command before it must not count, nor what the probe's process did before it began.
    let request = |argv: &[&str]| json!({"do": "command", "argv": argv, "clock": "monotonic"});
    let answers = answers(&[request(&["sh", "-c", &busy]), request(&["true"])]);
    let used = |answer: &Value| {
        let part = |name: &str| answer[name].as_u64().expect("a number");
        part("user") + part("system")
    };
    assert!(used(&answers[0]) > 10 * used(&answers[1]).max(100), "{answers:?}");
}

#[test]
fn output_disturbs_nothing() {
    let much = command(&["sh", "-c", "head -c 1000000 /dev/zero | tr '\\0' x"]);
    assert_eq!(much["stdout"].as_str().map(str::len), Some(65536));
    assert_eq!(much["stdout_bytes"], 1_000_000);

    let binary = command(&["printf", r"\377\200\000\n{\042event\042:\042end\042}\n"]);
    assert_eq!(binary["stdout"], "\u{fffd}\u{fffd}\0\n{\"event\":\"end\"}\n");
}

#[test]
fn what_a_command_leaves_behind_is_not_waited_for() {
    let started = std::time::Instant::now();
    let left = command(&["sh", "-c", "echo first; (sleep 5; echo late) &"]);
    assert_eq!(left["stdout"], "first\n");
    let closed = command(&["sh", "-c", "exec >&- 2>&-; sleep 0.1; exit 4"]);
    assert_eq!(closed["status"], 4);
    assert!(started.elapsed().as_secs() < 4);
}

#[test]
fn the_first_failure_ends_the_job() {
    for (failing, message) in [
        (
            r#"{"do":"command","argv":["/no/such/program"],"clock":"tsc"}"#,
            "/no/such/program: No such",
        ),
        (r#"{"do":"command","argv":[],"clock":"tsc"}"#, "without a name"),
        (r#"{"do":"write","path":"/proc/no/such","value":"1"}"#, "/proc/no/such: No such file"),
        (r#"{"do":"install","path":"/tmp/x","mode":420,"base64":"?"}"#, "/tmp/x: its content"),
        (
            r#"{"do":"calls","clock":"tsc","calls":[{"name":"nap","batch":1,"samples":1,"warmup":0,"apart":0}]}"#,
            "\"nap\"",
        ),
        (
            r#"{"do":"calls","clock":"tsc","calls":[{"name":"null","batch":0,"samples":1,"warmup":0,"apart":0}]}"#,
            "from 1",
        ),
        (r#"{"do":"dance"}"#, "dance"),
        ("not JSON", "understood"),
    ] {
        let fine = r#"{"do":"command","argv":["true"],"clock":"tsc"}"#;
        let (all, status) = serve(&format!("{fine}\n\n{failing}\n{fine}\n"));
        let events: Vec<_> = all.iter().map(|answer| answer["event"].as_str()).collect();
        assert_eq!(events, ["hello", "command", "error", "end"].map(Some), "{all:?}");
        assert_eq!(all[2]["request"], 1);
        let text = all[2]["message"].as_str().expect("text");
        assert!(text.contains(message), "{text}");
        assert_eq!(status, Some(1));
    }
}

#[test]
fn without_the_measured_program_it_says_what_is_missing() {
    let folder = tempfile::tempdir().expect("a folder");
    let probe = folder.path().join("probe");
    std::fs::copy(programs::probe().get_program(), &probe).expect("a copy");
    let mut started = Command::new(&probe)
        .arg("serve")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the probe starts");
    let job = r#"{"do":"command","argv":["true"],"clock":"tsc"}"#;
    started.stdin.take().expect("a pipe").write_all(job.as_bytes()).expect("the probe reads");
    let output = started.wait_with_output().expect("the probe ends");
    let said = String::from_utf8_lossy(&output.stdout);
    let missing = folder.path().join("hardcost-measured").display().to_string();
    assert!(said.contains(&format!("the program {missing} is missing")), "{said}");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn without_a_known_verb_it_says_how_it_is_used() {
    for words in [&["dance"][..], &["serve", "0"], &["serve", "long"], &["serve", "9", "first"]] {
        let output = programs::probe().args(words).output().expect("starts");
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(output.stderr.starts_with(b"usage:"));
    }
}
