//! Runs programs and services through `hardcost-probe serve`. Nothing of the host is changed.

#![allow(clippy::disallowed_methods, reason = "a test has nothing to look after")]

use std::fmt::{self, Display, Formatter};
use std::fs;
use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

mod programs;

/// Lets `serve` do a job; its answers without the first and the last.
fn serve(requests: &[Value]) -> Vec<Value> {
    serve_within(3600, requests)
}

/// The same with so many seconds for the whole job.
fn serve_within(seconds: u32, requests: &[Value]) -> Vec<Value> {
    let mut probe = programs::probe()
        .args(["serve", &seconds.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the probe starts");
    let job: Vec<String> = requests.iter().map(Value::to_string).collect();
    let mut input = probe.stdin.take().expect("a pipe");
    input.write_all(job.join("\n").as_bytes()).expect("the probe reads");
    drop(input);
    let output = probe.wait_with_output().expect("the probe ends");
    let lines = output.stdout.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let mut all: Vec<Value> =
        lines.map(|line| serde_json::from_slice(line).expect("JSON")).collect();
    assert_eq!(all.pop().expect("an end")["event"], "end", "{all:?}");
    assert_eq!(all.remove(0)["event"], "hello");
    all
}

/// The answers of a job that succeeds.
fn done(requests: &[Value]) -> Vec<Value> {
    let all = serve(requests);
    assert!(all.iter().all(|answer| answer["event"] != "error"), "{all:?}");
    all
}

/// The error at the end of a job that fails.
fn error(requests: &[Value]) -> Value {
    let error = serve(requests).pop().expect("an answer");
    assert_eq!(error["event"], "error", "{error}");
    error
}

fn run(argv: &[&str], more: &Value) -> Value {
    let request = json!({"do": "run", "name": "it", "argv": argv, "expect": 0, "limit": 20});
    with(request, more)
}

fn start(script: &str, ready: &Value, more: &Value) -> Value {
    let argv = ["sh", "-c", script];
    let request = json!({"do": "start", "name": "s", "argv": argv, "ready": ready, "limit": 20});
    with(request, more)
}

fn stop(more: &Value) -> Value {
    with(json!({"do": "stop", "name": "s", "limit": 20}), more)
}

fn with(mut request: Value, more: &Value) -> Value {
    for (key, value) in more.as_object().expect("an object") {
        request[key] = value.clone();
    }
    request
}

/// Whether no such command line is left, or soon will be: what is killed need not be gone at once.
fn ends(line: &str) -> bool {
    (0..500).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        !command_lines().any(|other| other == line)
    })
}

/// The command lines of all processes, their words joined by spaces.
fn command_lines() -> impl Iterator<Item = String> {
    let processes = fs::read_dir("/proc").expect("processes").flatten();
    processes.filter_map(|process| {
        let words = fs::read(process.path().join("cmdline")).ok()?;
        let text = String::from_utf8_lossy(&words).trim_end_matches('\0').replace('\0', " ");
        (!text.is_empty()).then_some(text)
    })
}

/// A folder of a test's own; it goes with the value.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("room"))
    }
}

impl Display for Folder {
    fn fmt(&self, to: &mut Formatter) -> fmt::Result {
        self.0.path().display().fmt(to)
    }
}

fn text(value: &Value) -> &str {
    value.as_str().expect("text")
}

#[test]
fn a_program_gets_what_was_asked_for_and_its_end_is_told() {
    let script = "cat; pwd; echo $A; env | cut -d= -f1 | sort | tr '\\n' ' '; echo e >&2; exit 3";
    let more = json!({"stdin": "in\n", "folder": "/usr", "environment": {"A": "b"}, "expect": 3});
    let ran = done(&[run(&["sh", "-c", script], &more)]).remove(0);
    assert_eq!((&ran["event"], &ran["name"]), (&json!("ran"), &json!("it")));
    assert_eq!((&ran["status"], &ran["signal"]), (&json!(3), &Value::Null));
    assert_eq!(ran["stdout"], "in\n/usr\nb\nA HOME PATH PWD ");
    assert_eq!((&ran["stderr"], &ran["stderr_bytes"]), (&json!("e\n"), &json!(2)));
    for key in ["ticks", "begin", "end", "audit"] {
        assert_eq!(ran[key], Value::Null, "{key}");
    }
}

#[test]
fn a_measured_program_is_timed_and_its_processor_time_told() {
    let script = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";
    let ran = done(&[run(&["sh", "-c", script], &json!({"clock": "monotonic"}))]).remove(0);
    let number = |key: &str| ran[key].as_u64().expect("a number");
    let used = (number("user") + number("system")) * 1000;
    assert!(used > 1_000_000 && number("ticks") >= used / 2, "{ran}");
}

#[test]
fn a_program_that_ends_otherwise_than_expected_fails_the_job_with_its_words() {
    let failed = error(&[run(&["sh", "-c", "echo out; echo why >&2; exit 4"], &json!({}))]);
    assert_eq!(failed["message"], "the program it ended with status 4, not 0: why");
    assert_eq!(failed["logs"]["it: standard output"], "out\n");
    let killed = error(&[run(&["sh", "-c", "kill -9 $$"], &json!({}))]);
    assert_eq!(killed["message"], "the program it ended with signal 9, not 0");
    let any = json!({"expect": null});
    assert_eq!(done(&[run(&["sh", "-c", "kill -9 $$"], &any)])[0]["signal"], 9);
}

#[test]
fn what_cannot_be_run_is_an_error_with_its_reason() {
    let missing = error(&[run(&["/no/such/program"], &json!({}))]);
    assert!(text(&missing["message"]).starts_with("/no/such/program: No such file"), "{missing}");
    let user = error(&[run(&["true"], &json!({"user": "no such"}))]);
    assert!(text(&user["message"]).contains("no user \"no such\""), "{user}");
    for (more, message) in [
        (json!({"folder": "/no/such"}), "/no/such: No such file"),
        (json!({"argv": []}), "without a name"),
        (json!({"limit": -1}), "no limit"),
        (json!({"name": "a/b", "stdin": "x"}), "no name"),
    ] {
        let failed = error(&[run(&["true"], &more)]);
        assert!(text(&failed["message"]).contains(message), "{failed}");
    }
}

#[test]
fn a_program_that_takes_too_long_is_killed_with_all_that_came_of_it() {
    let started = Instant::now();
    let script = "echo begun; (setsid sleep 777.125 & sleep 777.125) & sleep 777.125";
    let failed = error(&[run(&["sh", "-c", script], &json!({"limit": 0.5}))]);
    assert_eq!(failed["message"], "the program it did not end within 0.5 s");
    assert_eq!(failed["logs"]["it: standard output"], "begun\n");
    assert!(started.elapsed() < Duration::from_secs(10));
    assert!(ends("sleep 777.125"));
}

#[test]
fn a_program_whose_children_keep_its_output_open_ends_when_it_ends() {
    let started = Instant::now();
    let ran = done(&[run(&["sh", "-c", "echo first; sleep 5 &"], &json!({}))]).remove(0);
    assert_eq!(ran["stdout"], "first\n");
    let much = "head -c 1000000 /dev/zero | tr '\\0' x; head -c 200000 /dev/zero >&2";
    let ran = done(&[run(&["sh", "-c", much], &json!({}))]).remove(0);
    assert_eq!(ran["stdout"].as_str().map(str::len), Some(65536));
    assert_eq!((&ran["stdout_bytes"], &ran["stderr_bytes"]), (&json!(1_000_000), &json!(200_000)));
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_service_is_waited_for_until_it_answers_and_stopped() {
    let folder = Folder::new();
    let script = format!("echo up; sleep 0.1; echo ready > {folder}/f; exec sleep 60");
    let ready = json!({"file": format!("{folder}/f"), "contains": "ready"});
    let log = json!({"logs": [format!("{folder}/f")]});
    let answers = done(&[start(&script, &ready, &log), stop(&json!({}))]);
    let (started, stopped) = (&answers[0], &answers[1]);
    assert_eq!((&started["event"], &started["name"]), (&json!("started"), &json!("s")));
    assert!(started["attempts"].as_u64() > Some(1) && started["pid"].as_u64() > Some(1));
    assert!(started["ticks"].as_u64() > Some(0), "{started}");
    assert_eq!((&stopped["event"], &stopped["signal"]), (&json!("stopped"), &json!(15)));
    assert_eq!((&stopped["forced"], &stopped["status"]), (&json!(false), &Value::Null));
    let logs: Vec<_> = stopped["logs"].as_object().expect("logs").values().collect();
    assert!(logs.contains(&&json!("up\n")) && logs.contains(&&json!("ready\n")), "{stopped}");
}

#[test]
fn a_service_answers_at_a_port_or_a_socket() {
    let perl = |address: &str, class: &str| {
        format!(
            "exec perl -MIO::Socket::UNIX -MIO::Socket::INET -e '$SIG{{TERM}} = sub {{ exit 7 }}; \
             my $s = {class}->new({address}, Listen => 5) or die \"no: $!\"; \
             while (my $c = $s->accept) {{ my $l = <$c>; print $c \"you said $l\"; close $c }}'"
        )
    };
    let folder = Folder::new();
    let path = format!("{folder}/s");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("bound").port();
    drop(taken);
    let tcp = perl(&format!("LocalAddr => \"127.0.0.1:{port}\""), "IO::Socket::INET");
    let unix = perl(&format!("Local => \"{path}\""), "IO::Socket::UNIX");
    let held = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let ready = json!({"tcp": held.local_addr().expect("bound").port()});
    let refused = error(&[start("sleep 60", &ready, &json!({}))]);
    assert!(text(&refused["message"]).ends_with("is taken: another program listens there"));
    let talk = json!({"send": "hello\n", "expect": "said hello"});
    for (script, ready) in [(tcp, json!({"tcp": port})), (unix, json!({"unix": path}))] {
        let ready = with(ready, &talk);
        let answers = done(&[start(&script, &ready, &json!({})), stop(&json!({}))]);
        assert_eq!((&answers[1]["status"], &answers[1]["forced"]), (&json!(7), &json!(false)));
    }
}

#[test]
fn a_service_that_leaves_the_foreground_is_known_by_its_number() {
    let folder = Folder::new();
    let number = format!("{folder}/pid");
    let ready = json!({"run": ["test", "-s", number]});
    let script = format!("(setsid sh -c 'echo $$ > {number}; sleep 60; exit 5') & exit 0");
    let pid_file = json!({"pid_file": number});
    let kill =
        |signal: &str| run(&["sh", "-c", &format!("kill -{signal} $(cat {number})")], &json!({}));
    let answers = done(&[start(&script, &ready, &pid_file), stop(&json!({"signal": 9}))]);
    assert_eq!((&answers[1]["signal"], &answers[1]["forced"]), (&json!(9), &json!(false)));

    let nap = run(&["sleep", "5"], &json!({}));
    let failed = error(&[start(&script, &ready, &pid_file), kill("TERM"), nap]);
    assert_eq!(failed["message"], "the service s died: signal 15");
}

#[test]
fn a_service_that_does_not_start_fails_the_job_with_its_log() {
    let ready = json!({"file": "/no/such/file"});
    let died = error(&[start("echo no room >&2; exit 1", &ready, &json!({}))]);
    assert_eq!(died["message"], "the service s died: status 1");
    let logs = died["logs"].as_object().expect("logs");
    assert_eq!(logs.values().collect::<Vec<_>>(), ["no room\n"]);
    let launcher = json!({"pid_file": "/no/such/pid"});
    let died = error(&[start("exit 2", &ready, &launcher)]);
    assert_eq!(died["message"], "the service s died: status 2");

    let hung = error(&[start("echo up; exec sleep 60", &ready, &json!({"limit": 0.3}))]);
    let expected = "the service s hung: did not answer within 0.3 s: there is no /no/such/file";
    assert_eq!(hung["message"], expected);
    assert_eq!(hung["logs"].as_object().map(serde_json::Map::len), Some(1));
}

#[test]
fn a_service_that_dies_ends_a_program_that_waits() {
    let begun = Instant::now();
    let script = "echo bye; sleep 0.3; exit 6";
    let ready = json!({"file": "/proc/self/status"});
    let nap = run(&["sleep", "30"], &json!({}));
    let failed = error(&[start(script, &ready, &json!({})), nap]);
    assert_eq!(
        (&failed["request"], &failed["message"]),
        (&json!(1), &json!("the service s died: status 6"))
    );
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_service_that_died_unseen_fails_the_request_behind_which_it_is_missed() {
    let ready = json!({"file": "/proc/self/status"});
    let nap = json!({"do": "command", "argv": ["sleep", "0.5"], "clock": "tsc"});
    let failed = error(&[start("sleep 0.1; kill -9 $$", &ready, &json!({})), nap]);
    assert_eq!(failed["message"], "the service s died: signal 9");
    assert_eq!(failed["request"], 1);
}

#[test]
fn a_hanging_service_is_named_when_a_program_waits_for_it() {
    let folder = Folder::new();
    let ready = json!({"run": ["test", "!", "-e", format!("{folder}/stuck")]});
    let stick = run(&["touch", &format!("{folder}/stuck")], &json!({}));
    let nap = run(&["sleep", "30"], &json!({"limit": 0.3}));
    let failed = error(&[start("exec sleep 60", &ready, &json!({})), stick, nap]);
    let message = text(&failed["message"]);
    let expected = "the program it did not end within 0.3 s; the service s hung: did not answer";
    assert!(message.starts_with(expected), "{message}");
}

#[test]
fn a_service_that_does_not_heed_the_signal_is_killed() {
    let ready = json!({"file": "/proc/self/status"});
    let script = "trap '' TERM; while :; do sleep 0.05; done";
    let asked = [
        start(script, &ready, &json!({})),
        run(&["sleep", "0.2"], &json!({})),
        stop(&json!({"limit": 0.3})),
    ];
    let stopped = done(&asked).remove(2);
    assert_eq!((&stopped["forced"], &stopped["signal"]), (&json!(true), &json!(9)));
}

#[test]
fn a_service_can_be_stopped_by_a_program() {
    let folder = Folder::new();
    let flag = format!("{folder}/end");
    let ready = json!({"file": "/proc/self/status"});
    let script = format!("while [ ! -e {flag} ]; do sleep 0.02; done; exit 3");
    let answers =
        done(&[start(&script, &ready, &json!({})), stop(&json!({"argv": ["touch", flag]}))]);
    assert_eq!((&answers[1]["status"], &answers[1]["forced"]), (&json!(3), &json!(false)));
}

#[test]
fn a_service_that_dies_of_something_else_while_it_is_stopped_fails_the_session() {
    let folder = Folder::new();
    let set = format!("{folder}/set");
    let script = format!("trap 'kill -KILL $$' TERM; echo > {set}; while :; do sleep 0.02; done");
    let answer = error(&[start(&script, &json!({"file": set}), &json!({})), stop(&json!({}))]);
    assert_eq!(answer["message"], "the service s died: signal 9");
}

#[test]
fn services_end_with_the_session() {
    let ready = json!({"file": "/proc/self/status"});
    done(&[start("exec sleep 777.375", &ready, &json!({}))]);
    assert!(ends("sleep 777.375"));
}

#[test]
fn only_what_was_started_is_stopped_and_only_once() {
    let unknown = error(&[stop(&json!({}))]);
    assert_eq!(unknown["message"], "no service s was started");
    let one = start("exec sleep 60", &json!({"file": "/proc/self/status"}), &json!({}));
    assert_eq!(error(&[one.clone(), one])["message"], "there is a service s already");
    let none = start("true", &json!({}), &json!({}));
    assert!(text(&error(&[none])["message"]).starts_with("ready: one of"));
}

#[test]
fn the_end_of_a_file_is_read() {
    let folder = Folder::new();
    let path = format!("{folder}/f");
    fs::write(&path, "0123456789").expect("room");
    let read = |path: &str| json!({"do": "read", "name": "n", "path": path, "tail": 3});
    let answers = done(&[read(&path), read("/no/such")]);
    let expected =
        json!({"event": "content", "name": "n", "path": path, "text": "789", "bytes": 10});
    assert_eq!(answers[0], expected);
    assert_eq!((&answers[1]["text"], &answers[1]["bytes"]), (&Value::Null, &Value::Null));
}

#[test]
fn an_unknown_mount_option_is_refused_before_anything_is_mounted() {
    let failed = error(&[json!({"do": "mount", "path": "/tmp", "options": ["noexec", "fast"]})]);
    assert_eq!(failed["message"], "mount of /tmp: no option \"fast\"");
}

#[test]
fn a_file_that_finds_no_room_is_told_with_the_room_that_there_is() {
    let full = json!({"do": "install", "path": "/dev/full", "mode": 438, "base64": "AAAA"});
    let message = text(&error(&[full])["message"]).to_owned();
    assert!(message.starts_with("/dev/full: No space left"), "{message}");
    assert!(message.contains(" bytes free"), "{message}");
}

#[test]
fn a_watch_tells_who_had_the_processor_and_when_programs_ran() {
    let script = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
    let answers = done(&[
        json!({"do": "watch", "what": ["cpu"], "period": 2_000_000}),
        run(&["sh", "-c", script], &json!({"clock": "tsc"})),
        json!({"do": "unwatch"}),
    ]);
    assert_eq!(answers[0], json!({"event": "watching"}));
    let (ran, watched) = (&answers[1], &answers[2]);
    assert_eq!(watched["event"], "watched");
    let number = |value: &Value| value.as_u64().expect("a number");
    assert!(number(&ran["end"]) - number(&ran["begin"]) >= number(&ran["ticks"]), "{ran}");
    assert!(number(&ran["end"]) < number(&watched["ticks"]));
    assert!(number(&watched["own"]) < number(&watched["nanoseconds"]));
    assert!(number(&watched["cpu"]["processes"]["sh"]) > 1_000_000, "{watched}");
    assert_eq!((&watched["audit"], &watched["avc"]), (&Value::Null, &Value::Null));
}

#[test]
fn a_watch_ends_once_and_there_is_but_one() {
    let watch = json!({"do": "watch", "what": [], "period": 10_000_000});
    let unwatch = json!({"do": "unwatch"});
    assert_eq!(error(std::slice::from_ref(&unwatch))["message"], "unwatch needs watch first");
    assert_eq!(error(&[watch.clone(), watch.clone()])["message"], "there is a watch already");
    let again = done(&[watch.clone(), unwatch.clone(), watch, unwatch]);
    assert_eq!(again[3]["cpu"], Value::Null);
}

/// A request to measure calls that do not end before long.
fn endless_calls(limit: f64) -> Value {
    let most = 1 << 20;
    let call = json!({"name": "null", "batch": most, "samples": most, "warmup": 0, "apart": 0});
    json!({"do": "calls", "clock": "monotonic", "calls": [call], "limit": limit})
}

fn command(argv: &[&str], limit: f64) -> Value {
    json!({"do": "command", "argv": argv, "clock": "monotonic", "limit": limit})
}

#[test]
fn a_service_that_prints_is_heard_while_calls_are_measured_and_a_deadline_holds() {
    let script = "head -c 8000000 /dev/zero | tr '\\0' x; echo; echo all is said; sleep 71.3";
    let service = start(script, &json!({"run": ["true"]}), &json!({}));
    let late = error(&[service, endless_calls(3.0)]);
    assert!(
        text(&late["message"]).starts_with("what is measured did not end within 3 s"),
        "{late}"
    );
    let logs = late["logs"].as_object().expect("logs");
    assert!(logs.values().any(|log| text(log).ends_with("x\nall is said\n")), "{logs:?}");
    assert!(ends("sleep 71.3"));
}

#[test]
fn a_service_that_prints_without_end_holds_up_nothing_that_is_measured() {
    let service = start("exec yes", &json!({"run": ["true"]}), &json!({}));
    // The service would block if its output were not read, and its log would stop.
    let grown = "until [ $(stat -c %s /tmp/hardcost.$PPID/s.log) -gt 3000000 ]; do sleep .01; done";
    let calls = json!([{"name": "null", "batch": 100, "samples": 9, "warmup": 1, "apart": 0}]);
    let answers = done(&[
        service,
        command(&["sh", "-c", grown], 20.0),
        json!({"do": "calls", "clock": "monotonic", "calls": calls, "limit": 20}),
        stop(&json!({})),
    ]);
    assert_eq!(answers[1]["status"], 0, "{answers:?}");
    assert_eq!(answers[3]["samples"].as_array().expect("samples").len(), 9);
    assert!(
        text(answers[4]["logs"].as_object().expect("logs").values().next().expect("one"))
            .ends_with("y\n")
    );
}

#[test]
fn a_service_that_dies_ends_what_is_measured() {
    for measured in [command(&["sleep", "72.4"], 20.0), endless_calls(20.0)] {
        let service = start("sleep 0.2; exit 3", &json!({"run": ["true"]}), &json!({}));
        let died = error(&[service, measured]);
        assert_eq!(died["message"], "the service s died: status 3");
    }
    assert!(ends("sleep 72.4"));
}

#[test]
fn a_command_that_takes_too_long_is_ended() {
    let late = error(&[command(&["sh", "-c", "sleep 73.5; true"], 0.2)]);
    assert_eq!(late["message"], "what is measured did not end within 0.2 s");
    assert!(ends("sleep 73.5"));
    assert!(text(&error(&[command(&["true"], -1.0)])["message"]).contains("no limit"));
}

#[test]
fn what_has_no_limit_of_its_own_ends_with_the_time_of_the_job() {
    let most = 1 << 20;
    let call = json!({"name": "null", "batch": most, "samples": most, "warmup": 0, "apart": 0});
    let calls = json!({"do": "calls", "clock": "monotonic", "calls": [call]});
    let command =
        |script: &str| json!({"do": "command", "argv": ["sh", "-c", script], "clock": "tsc"});
    let quiet = command("sleep 75.7; true");
    // What it prints wakes the probe over and over, so that it never waits for long.
    let loud = command("while :; do echo y; done; : 75.8");
    for measured in [calls, quiet, loud] {
        let service = start("exec yes", &json!({"run": ["true"]}), &json!({}));
        let late = serve_within(2, &[service, measured]).pop().expect("an answer");
        assert_eq!((&late["event"], &late["request"]), (&json!("error"), &json!(1)), "{late}");
        assert_eq!(late["message"], "the job did not end within 2 s");
        let logs = late["logs"].as_object().expect("logs");
        assert!(logs.values().any(|log| text(log).ends_with("y\n")), "{logs:?}");
    }
    assert!(ends("sleep 75.7") && ends("sh -c while :; do echo y; done; : 75.8"));
}

#[test]
fn a_job_that_ends_in_time_is_not_disturbed() {
    let answers = serve_within(10, &[run(&["sleep", "0.3"], &json!({}))]);
    assert_eq!(answers[0]["status"], 0, "{answers:?}");
}
