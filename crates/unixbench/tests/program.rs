//! The program itself, as it is started in a guest.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const TESTS: [&str; 12] = [
    "dhrystone",
    "whetstone",
    "execl",
    "copy-1024",
    "copy-256",
    "copy-4096",
    "pipe",
    "context-switch",
    "process",
    "shell-1",
    "shell-8",
    "system-call",
];

fn run(words: &[&str], folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hardcost-unixbench"));
    command.args(words).arg("--folder").arg(folder).output().expect("it starts")
}

fn number(output: &Output, key: &str) -> f64 {
    let text = String::from_utf8_lossy(&output.stdout);
    let rest = text.split(&format!("\"{key}\": ")).nth(1).unwrap_or_else(|| panic!("{output:?}"));
    let number = rest.split([',', '}']).next().and_then(|number| number.trim().parse().ok());
    number.unwrap_or_else(|| panic!("{output:?}"))
}

#[test]
fn every_test_does_its_loops_in_every_copy_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().expect("room");
    for test in TESTS {
        for copies in ["1", "3"] {
            let output = run(&[test, "--loops", "4", "--copies", copies], folder.path());
            assert!(output.status.success(), "{test}: {output:?}");
            let block: f64 =
                test.strip_prefix("copy-").map_or(1024.0, |size| size.parse().unwrap());
            let expected = 4.0 * copies.parse::<f64>().unwrap() * block / 1024.0;
            assert!((number(&output, "operations") - expected).abs() < 1e-9, "{output:?}");
            assert!(number(&output, "ticks") > 0.0);
        }
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}

#[test]
fn a_test_by_time_takes_that_time() {
    let folder = tempfile::tempdir().expect("room");
    for test in ["dhrystone", "execl", "context-switch", "process"] {
        let output = run(&[test, "--seconds", "1", "--copies", "2"], folder.path());
        assert!(number(&output, "ticks") > 0.9e9, "{output:?}");
        assert!(number(&output, "operations") > 10.0, "{output:?}");
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}

#[test]
fn a_copy_that_cannot_begin_ends_all_with_the_reason() {
    let nowhere = Path::new("/nonexistent");
    let output = run(&["copy-256", "--loops", "4", "--copies", "3"], nowhere);
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    assert!(String::from_utf8_lossy(&output.stderr).contains("/nonexistent/unixbench.0"));
}

#[test]
fn a_command_that_is_not_understood_is_told_apart_from_a_failed_test() {
    for words in [&["pip", "--loops", "1"][..], &["execl-step", "loops", "1"]] {
        let output = run(words, Path::new("."));
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(!output.stderr.is_empty());
    }
}
