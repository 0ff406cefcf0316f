from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from auditrules.cli.group import auditrules
from auditrules.lint.checks import CODES
from auditrules.model.errors import InputError

DATA = Path(__file__).parents[1] / "data"
FAULTY = "-a always,exit -F arch=b33 -S execve -k x\n"
GOOD = "-w /etc/shadow -p wa -k identity\n"


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(auditrules, ["lint", *map(str, words)])


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    path = tmp_path / "x.rules"
    path.write_text(FAULTY + GOOD)
    return path


def test_an_error_makes_the_answer_no_and_is_reported_with_line_and_remedy(rules: Path) -> None:
    result = run(rules)
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert lines[0] == str(rules)
    assert lines[1].startswith("  1:19: error: there is no architecture 'b33'")
    assert lines[1].endswith("[cannot-load]")
    assert "      remedy: did you mean b32?" in lines
    assert any(line.startswith("1 error, 0 warnings and 0 notes in 2 lines") for line in lines)


def test_the_published_reduced_rule_set_has_three_faults_with_line_and_remedy() -> None:
    result = run(DATA / "reduced-stig-as-published.rules", "--format", "json")
    assert result.exit_code == 1
    faults = [one for one in json.loads(result.stdout)["findings"] if one["level"] == "error"]
    assert [(one["line"], one["column"]) for one in faults] == [(1, 19), (7, 31), (8, 31)]
    assert faults[0]["message"] == "there is no architecture 'b33' on x86_64"
    assert faults[0]["remedy"] == "did you mean b32?"
    assert "delete_module" in faults[1]["remedy"]


def test_warnings_and_notes_leave_the_answer_yes(tmp_path: Path) -> None:
    path = tmp_path / "x.rules"
    path.write_text("-w /etc/shadow -p wa\n")
    result = run(path)
    assert result.exit_code == 0
    assert "[no-key]" in result.stdout


def test_nothing_but_the_sum_is_said_of_rules_without_fault(tmp_path: Path) -> None:
    path = tmp_path / "x.rules"
    path.write_text(GOOD)
    result = run(path)
    assert result.exit_code == 0
    first, second, third = result.stdout.splitlines()
    assert third.startswith("Judging by name, ")
    assert first == (
        "0 errors, 0 warnings and 0 notes in 1 line; 1 rule stays loaded"
        " (for x86-64; other architectures not checked)."
    )
    assert second.startswith("All rules together add ")
    assert "predicted" in second


def test_what_stays_loaded_is_reported_and_where_auditctl_stops(tmp_path: Path) -> None:
    path = tmp_path / "x.rules"
    path.write_text("-w /etc/a -p wa -k a\n-w /etc/b -p wa -k b\n-D\n" + GOOD)
    result = run(path)
    assert "1 note in" not in result.stdout
    assert "in 4 lines; 1 rule stays loaded, 2 are deleted again (" in result.stdout
    assert "[deleted-again]" in result.stdout
    data = json.loads(run(path, "--format", "json").stdout)
    assert (data["rules"], data["deleted"], data["stops_at"]) == (1, 2, None)
    path.write_text(GOOD + FAULTY + "-w /etc/a -p wa -k a\n")
    said = f"auditctl stops at {path}:2; without faulty lines, 2 rules stay loaded ("
    assert said in run(path).stdout
    data = json.loads(run(path, "--format", "json").stdout)
    assert data["stops_at"] == {"file": str(path), "line": 2}
    path.write_text("-i\n" + FAULTY + GOOD)
    assert json.loads(run(path, "--format", "json").stdout)["stops_at"] is None


def test_a_file_with_the_line_ends_of_other_systems_has_one_finding(tmp_path: Path) -> None:
    path = tmp_path / "x.rules"
    path.write_bytes(b"-D\r\n" + GOOD.replace("\n", "\r\n").encode() + b"\r\n" * 200)
    result = run(path, "--all")
    assert result.exit_code == 1
    assert result.stdout.count(": error: ") == 1
    assert "\r" not in result.stdout
    (found,) = json.loads(run(path, "--format", "json").stdout)["findings"]
    assert (found["code"], found["level"]) == ("line-ends", "error")


def test_a_nul_byte_is_a_finding(tmp_path: Path) -> None:
    path = tmp_path / "x.rules"
    path.write_bytes(b"-w /etc/shadow -p wa -k x\0 -k y\n")
    result = run(path)
    assert result.exit_code == 0
    assert "  1:26: warning: " in result.stdout
    assert "[nul-byte]" in result.stdout


@pytest.mark.parametrize("format", ["json", "sarif", "text"])
def test_bytes_that_are_no_text_are_written_as_text(tmp_path: Path, format: str) -> None:  # noqa: A002
    path = tmp_path / "x.rules"
    path.write_bytes(b"-w /etc/\xff\xc3\xa9 -p wa -k a\x1b[31m\tb\x7f\n-w \xfe\n")
    written = run(path, "--format", format).stdout_bytes
    assert all(byte in b"\n" or 32 <= byte != 127 for byte in written)
    said = json.loads(written) if format != "text" else written.decode()
    shown = json.dumps(said, ensure_ascii=False)
    assert shown.encode()  # no half of a pair, which is no text
    assert r"/etc/\\xff" in shown


def test_several_files_are_one_set_of_rules(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.rules").write_text(GOOD)
    result = run(tmp_path / "a.rules", tmp_path / "b.rules")
    assert result.exit_code == 1
    assert "[duplicate-rule]" in result.stdout
    assert "[duplicate-rule]" in run(tmp_path).stdout


def test_a_folder_is_all_that_is_loaded_and_its_lock_goes_to_the_end(tmp_path: Path) -> None:
    (tmp_path / "10.rules").write_text("-e 2\n")
    (tmp_path / "20.rules").write_text(GOOD)
    assert "[small-backlog]" in run(tmp_path).stdout
    assert "[lines-after-lock]" not in run(tmp_path).stdout
    in_order = run(tmp_path / "10.rules", tmp_path / "20.rules").stdout
    assert "[lines-after-lock]" in in_order
    assert "[small-backlog]" not in in_order


def test_json_holds_each_finding_with_its_place_and_price(rules: Path) -> None:
    rules.write_text(FAULTY + "-w /srv/ -p wa -k srv\n")
    result = run(rules, "--format", "json")
    assert result.exit_code == 1
    data = json.loads(result.stdout)
    assert data["counts"] == {"error": 1, "warning": 0, "note": 1}
    assert (data["lines"], data["rules"]) == (2, 1)
    first, second = data["findings"]
    assert (first["code"], first["file"], first["line"], first["column"]) == (
        "cannot-load", str(rules), 1, 19,
    )  # fmt: skip
    assert (first["cost"], first["remedy"]) == (None, "did you mean b32?")
    assert (second["code"], second["cost"]["predicted"]) == ("every-call", True)
    assert second["cost"]["instructions"] > 0
    assert data["cost"]["unit"] == "insn/call"
    assert set(data["cost"]["calls"]) == {"getppid", "read", "openat"}


def test_a_call_whose_cost_is_not_predicted_has_a_reason_and_no_number(rules: Path) -> None:
    rules.write_text(
        "-a always,exit -F arch=b64 -S openat -k x\n-a always,exclude -F msgtype=PROCTITLE\n"
    )
    cost = json.loads(run(rules, "--format", "json").stdout)["cost"]
    reason = "rules of the list exclude decide about its records"
    assert cost["calls"]["openat"] is None
    assert cost["calls"]["read"] > 0
    assert cost["not_predicted"] == {"openat": reason}
    text = run(rules).stdout
    assert f"What all rules together add to each openat is not predicted: {reason}." in text
    assert "to each openat (" not in text


def test_sarif_is_printed_as_such(rules: Path) -> None:
    result = run(rules, "--format", "sarif")
    assert result.exit_code == 1
    log = json.loads(result.stdout)
    assert log["version"] == "2.1.0"
    assert [one["ruleId"] for one in log["runs"][0]["results"]] == ["cannot-load"]


def test_codes_choose_what_is_looked_for(rules: Path) -> None:
    assert run(rules, "--ignore", "cannot-load").exit_code == 0
    assert run(rules, "--select", "no-key,catch-all").exit_code == 0
    result = run(rules, "--select", "nonsense")
    assert result.exit_code == 2
    assert "there is no finding 'nonsense'" in result.stderr


def test_many_findings_of_a_kind_are_gathered_unless_all_are_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "x.rules"
    numbers = [*range(1, 8), *range(20, 101)]
    lines = {at: f"-w /srv/{at} -p wa" for at in numbers}
    path.write_text("".join(f"{lines.get(at, '')}\n" for at in range(1, 101)))
    shown = run(path).stdout
    assert shown.count("[no-key]") == 3
    assert "  … 85 more of no-key, lines 4-7, 20-100 (--all shows them)" in shown
    assert run(path, "--all").stdout.count("[no-key]") == 88


def test_what_is_known_of_the_machine_is_heeded(tmp_path: Path) -> None:
    path = tmp_path / "x.rules"
    path.write_text("-a always,exit -F arch=b64 -S mount -k x\n-w /etc/shadow -p wa -k y\n")
    root = tmp_path / "root"
    (root / "etc").mkdir(parents=True)
    assert "[twin-missing]" in run(path).stdout
    assert "[twin-missing]" not in run(path, "--no-b32").stdout
    assert "[missing-path]" in run(path, "--root", root).stdout
    assert "[missing-path]" not in run(path).stdout


@pytest.mark.parametrize("content", [b"\0\0\0\0", b""])
def test_what_is_no_file_of_rules_is_bad_input_and_an_empty_file_is_not(
    tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "x.rules"
    path.write_bytes(content)
    result = run(path)
    if content:
        assert isinstance(result.exception, InputError)
    else:
        assert result.exit_code == 0


def test_bad_usage_is_reported(tmp_path: Path) -> None:
    assert run().exit_code == 2
    assert isinstance(run(tmp_path / "nowhere").exception, InputError)
    assert isinstance(run(tmp_path).exception, InputError)


def test_nothing_in_a_rule_acts_on_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "x.rules"
    path.write_text("-w /etc/\x1b[31mred -p wa -k x\n-w /etc/\u202eder -p wa\n")
    result = run(path)
    assert "\x1b" not in result.stdout
    assert "\u202e" not in result.stdout


def test_findings_are_listed_and_explained() -> None:
    listed = run("--list")
    assert listed.exit_code == 0
    assert [line.split()[0] for line in listed.stdout.splitlines()] == list(CODES)
    said = run("--explain", "shadowed")
    assert said.exit_code == 0
    for section in ("What: ", "Why: ", "Remedy: ", "Example:"):
        assert f"\n{section}" in said.stdout
    assert run("--explain", "nonsense").exit_code == 2


def test_the_verb_says_how_to_use_it() -> None:
    result = run("--help")
    assert result.exit_code == 0
    assert "Examples" in result.output


def test_what_is_taken_from_the_names_of_watched_paths_is_said(rules: Path, tmp_path: Path) -> None:
    rules.write_text("-w /srv/ -p wa -k srv\n-w /etc/passwd -p wa -k id\n")
    assert "Judging by name, 1 of 2 watched paths (-w) are directories" in run(rules).stdout
    assert "Judging by name" not in run(rules, "--root", tmp_path).stdout


def test_rules_for_another_architecture_are_not_checked_and_keep_nothing_from_loading(
    tmp_path: Path,
) -> None:
    path = tmp_path / "x.rules"
    path.write_text("-a always,exit -F arch=aarch64 -S openat -k x\n" + GOOD)
    result = run(path)
    assert result.exit_code == 0
    assert "note: not checked: arch=aarch64 is another architecture" in result.stdout
    data = json.loads(run(path, "--format", "json").stdout)
    assert data["architecture"] == {"checked": ["x86-64"], "others": "not checked"}
    assert (data["rules"], data["stops_at"], data["counts"]["error"]) == (1, None, 0)


NO_KEY = "-w /etc/shadow -p wa\n"


@pytest.mark.parametrize("format", ["text", "json", "sarif"])
def test_fail_on_sets_the_level_that_fails_and_no_format_does(tmp_path: Path, format: str) -> None:  # noqa: A002
    path = tmp_path / "x.rules"
    for text, error, warning in ((GOOD, 0, 0), (NO_KEY, 0, 1), (FAULTY, 1, 1)):
        path.write_text(text)
        assert run(path, "--format", format).exit_code == error
        assert run(path, "--format", format, "--fail-on", "error").exit_code == error
        assert run(path, "--format", format, "--fail-on", "warning").exit_code == warning
    assert run(path, "--fail-on", "note").exit_code == 2


@pytest.mark.parametrize(
    ("above", "left"),
    [
        ("# hardcost: ignore=no-key\n", 0),
        ("#hardcost:ignore=catch-all, no-key  the vendor's rule\n", 0),
        ("# hardcost: ignore=no-key\n# another comment\n", 0),
        ("# hardcost: ignore=no-key\n\n", 1),
        ("# hardcost: ignore=catch-all\n", 1),
        ("# hardcost: ignore=no-key\n-w /etc/passwd -p wa -k x\n", 1),
    ],
)
def test_a_comment_on_the_line_above_leaves_a_finding_out(
    tmp_path: Path, above: str, left: int
) -> None:
    folder = tmp_path / "rules.d"
    folder.mkdir()
    path = folder / "x.rules"
    path.write_text(above + NO_KEY)
    for place in (path, folder):
        result = run(place, "--select", "no-key", "--fail-on", "warning")
        assert result.exit_code == left
        assert ("1 finding is left out by comments." in result.stdout) == (not left)
    data = json.loads(run(path, "--select", "no-key", "--format", "json").stdout)
    assert (len(data["findings"]), data["ignored"]) == (left, 1 - left)


def test_findings_that_are_written_down_fail_no_more_and_new_ones_do(tmp_path: Path) -> None:
    path = tmp_path / "x.rules"
    before = f"# \u00e9\n  {NO_KEY}\n{NO_KEY}{FAULTY}# end"
    path.write_bytes(before.encode() + b"\xff")
    result = run(path, "--generate-ignore", "--fail-on", "warning")
    assert result.exit_code == 0
    assert "3 findings written down in 1 file" in result.stdout
    after = path.read_bytes()
    lines = [line for line in after.split(b"\n") if not line.startswith(b"# hardcost: ")]
    assert b"\n".join(lines) == before.encode() + b"\xff"
    assert b"# hardcost: ignore=no-key\n  -w /etc/shadow" in after
    assert b"# hardcost: ignore=cannot-load\n-a always,exit -F arch=b33" in after
    assert "0 findings written down" in run(path, "--generate-ignore").stdout
    assert path.read_bytes() == after
    path.write_bytes(b"-w /etc/gshadow -p wa\n" + after)
    assert run(path, "--fail-on", "warning").exit_code == 1
    assert run(path, "--generate-ignore", "--fix").exit_code == 2


def test_sarif_goes_to_a_file_beside_the_usual_text(rules: Path, tmp_path: Path) -> None:
    log = tmp_path / "lint.sarif"
    result = run(rules, "--sarif-file", log)
    assert result.exit_code == 1
    assert result.stdout == run(rules).stdout
    assert log.read_text() == run(rules, "--format", "sarif").stdout
    assert isinstance(run(rules, "--sarif-file", tmp_path / "no" / "x").exception, InputError)


@pytest.mark.parametrize("format", ["text", "json", "sarif"])
def test_a_job_on_github_gets_annotations_and_takes_nothing_for_a_command(
    rules: Path,
    monkeypatch: pytest.MonkeyPatch,
    format: str,  # noqa: A002
) -> None:
    rules.write_text(
        f"{FAULTY}{NO_KEY}::error::x\n-a always,exit -F arch=b64 -S open -k ##[debug]\n"
    )
    plain = run(rules, "--format", format)
    assert "::error file=" not in plain.output
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    result = run(rules, "--format", format)
    assert result.exit_code == plain.exit_code == 1
    said = result.stdout if format == "text" else result.stderr
    lines = said.splitlines()
    if format == "text":
        token = lines[0].removeprefix("::stop-commands::")
        assert len(token) == 32
        end = lines.index(f"::{token}::")
        assert lines[1:end] == plain.stdout.splitlines()
        lines = lines[end + 1 :]
    else:
        assert result.stdout == plain.stdout
    assert lines[0] == (
        f"::error file={rules},line=1,col=19,title=auditrules%3A cannot-load::there is no"
        " architecture 'b33' on x86_64; remedy: did you mean b32?"
    )
    assert [line.partition(" ")[0] for line in lines[:3]] == ["::error", "::warning", "::error"]
    assert all(line.startswith("::") for line in lines)
