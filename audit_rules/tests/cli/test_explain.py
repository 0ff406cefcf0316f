from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from auditrules.cli.group import auditrules
from auditrules.model.errors import InputError

EVENT = "syscall=openat arch=b64 auid=1000 exit=-13 path=/etc/shadow perm=r"
RULES = """\
-a always,exit -F arch=b64 -S unlink -k delete
-a always,exit -F arch=b64 -S rename -k delete
-a always,exit -F arch=b64 -S openat -F exit=-EPERM -k access
-a always,exit -F arch=b64 -S openat -F exit=-EACCES -F auid>=1000 -k access
-w /etc/shadow -p r -k shadow
"""


def run(path: Path, *words: str, event: str = EVENT) -> Result:
    return CliRunner().invoke(auditrules, ["explain", str(path), "--event", event, *words])


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    path = tmp_path / "x.rules"
    path.write_text(RULES)
    return path


def test_the_deciding_rule_is_named_with_the_walk_and_its_price(rules: Path) -> None:
    result = run(rules)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0].startswith("Call:    syscall=openat arch=b64 exit=-EACCES auid=1000")
    assert lines[1].startswith("Assumed: success=no uid=1000")
    assert f"Recorded, key access: {rules}:4 decides." in lines
    walk = [line.split(maxsplit=1) for line in lines if line.startswith(f"  {rules}")]
    assert [place.removeprefix(f"{rules}:") for place, _ in walk] == ["1-2", "3", "4", "5"]
    assert walk[0][1].startswith("2 rules do not name openat")
    assert walk[1][1].startswith("exit=-EPERM does not hold")
    assert walk[2][1].startswith("matches: always")
    assert walk[3][1].startswith(f"on /etc/shadow: comes too late: {rules}:4 has decided")
    assert any(line.startswith("Predicted: ") for line in lines)


def test_each_rule_has_a_line_where_all_are_asked_for(rules: Path) -> None:
    result = run(rules, "--all")
    assert f"  {rules}:2" in result.stdout
    assert "2 rules" not in result.stdout


def test_json_says_the_same_in_numbers(rules: Path) -> None:
    data = json.loads(run(rules, "--format", "json").stdout)
    assert (data["recorded"], data["decision"], data["key"]) == (True, "always", "access")
    assert (data["decided_by"]["file"], data["decided_by"]["line"]) == (str(rules), 4)
    assert [step["verdict"] for step in data["walked"]] == [
        "not_named", "not_named", "failed", "matched", "outranked",
    ]  # fmt: skip
    assert data["walked"][2]["failed"] == "exit=-EPERM"
    cost = data["cost"]
    assert cost["predicted"] is True
    assert cost["total"] == cost["base"] + cost["walk"] + cost["record"]
    assert {"word": "uid=1000", "assumed": True} in data["event"]
    assert {"word": "auid=1000", "assumed": False} in data["event"]


def test_a_call_that_no_rule_decides_is_not_recorded(rules: Path) -> None:
    result = run(rules, event="syscall=getppid")
    assert result.exit_code == 0
    assert "Not recorded: no rule decides." in result.stdout


def test_a_key_that_a_losing_rule_left_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "x.rules"
    path.write_text("-w /x -p wa\n-a always,exit -F arch=b64 -S unlink -k delete\n")
    result = run(path, event="syscall=unlink path=/x")
    assert f"Recorded, key delete: {path}:1 decides." in result.stdout
    assert "  This rule has no key: the record keeps the key of a rule that matched earlier." in (
        result.stdout.splitlines()
    )


def test_a_rule_that_the_kernel_refuses_as_there_is_left_out_and_told(rules: Path) -> None:
    rules.write_text(f"{RULES}-w /etc/shadow -p r -k shadow\n")
    result = run(rules)
    assert result.exit_code == 0
    assert f"left out: 1 rule that repeats an earlier one: {rules}:6" in result.stderr
    assert f"auditctl stops at {rules}:6 today, and loads no line below it" in result.stderr


def test_rules_that_cant_be_loaded_are_bad_input_unless_the_files_ask_to_go_on(
    rules: Path,
) -> None:
    rules.write_text(f"-a always,exit -F arch=b33 -S open -k x\n{RULES}")
    assert isinstance(run(rules).exception, InputError)
    rules.write_text(f"-i\n-a always,exit -F arch=b33 -S open -k x\n{RULES}")
    result = run(rules)
    assert result.exit_code == 0
    assert "b33" in result.stderr


def test_an_event_that_makes_no_sense_is_bad_input_told_at_once(rules: Path) -> None:
    error = run(rules, event="sycall=open comm=vi").exception
    assert isinstance(error, InputError)
    assert [str(problem.place) for problem in error.problems] == ["--event:1", "--event:13"]
    assert all(problem.hint for problem in error.problems)


def test_users_are_resolved_by_the_files_given(rules: Path, tmp_path: Path) -> None:
    rules.write_text("-a always,exit -F arch=b64 -S openat -F uid=joe -k joe\n")
    error = run(rules).exception
    assert isinstance(error, InputError)
    assert "--passwd" in str(error.problems[0].hint)
    passwd = tmp_path / "passwd"
    passwd.write_text("joe:x:1000:1000::/:/bin/sh\n")
    assert "key joe" in run(rules, "--passwd", str(passwd)).stdout


def test_nothing_in_a_rule_or_event_acts_on_the_terminal(rules: Path) -> None:
    rules.write_text("-w /etc/\u202eder -p r -k x\n")
    result = run(rules, event="syscall=openat perm=r path=/etc/\u202eder")
    assert result.exit_code == 0
    assert "\u202e" not in result.stdout


def test_the_verb_says_how_to_use_it() -> None:
    result = CliRunner().invoke(auditrules, ["explain", "--help"])
    assert result.exit_code == 0
    assert "Example" in result.output


def test_a_watch_that_is_then_an_earlier_prepended_rule_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "x.rules"
    path.write_text("-A always,exit -F path=/etc/shadow -F perm=r -k s\n-w /etc/shadow -p r -k s\n")
    result = run(path)
    assert result.exit_code == 0
    assert f"Recorded, key s: {path}:1 decides." in result.stdout.splitlines()


def test_each_record_is_named_and_what_drops_it(rules: Path) -> None:
    rules.write_text(f"{RULES}-a always,exclude -F msgtype=CWD\n")
    lines = run(rules).stdout.splitlines()
    assert "Records: SYSCALL, PATH, PROCTITLE, EOE." in lines
    assert f"Not written: CWD, which {rules}:6 drops." in lines
    assert lines[-1].startswith("The call's cost is not predicted: rules of the list exclude")
    data = json.loads(run(rules, "--format", "json").stdout)
    assert [one["type"] for one in data["records"] if not one["written"]] == ["CWD"]
    assert data["records"][1]["dropped_by"]["line"] == 6
    assert data["cost"]["total"] is None


def test_nothing_is_written_without_the_syscall_record(rules: Path) -> None:
    rules.write_text(f"{RULES}-a always,exclude -F msgtype>0\n")
    lines = run(rules).stdout.splitlines()
    assert f"Nothing is written: {rules}:6 drops the SYSCALL record." in lines
    assert any("`ausearch -k access` does not find it." in line for line in lines)
    data = json.loads(run(rules, "--format", "json").stdout)
    assert (data["recorded"], data["requested"], data["key"]) == (False, True, None)


def test_a_process_that_the_list_task_takes_out_of_audit_has_no_record(rules: Path) -> None:
    rules.write_text(f"-a never,task\n{RULES}")
    lines = run(rules).stdout.splitlines()
    assert f"Not recorded: {rules}:1 takes every process that is made out of audit." in lines
    assert "No rule is walked." in lines
    data = json.loads(run(rules, "--format", "json").stdout)
    assert (data["recorded"], data["walked"], data["exempted_by"]["line"]) == (False, [], 1)


def test_a_cost_is_not_predicted_where_an_earlier_rule_of_the_list_task_decides(
    rules: Path,
) -> None:
    rules.write_text(f"-a always,task\n-a never,task\n{RULES}")
    data = json.loads(run(rules, "--format", "json").stdout)
    assert data["exempted_by"] is None
    assert data["cost"]["not_predicted"] == "the list task decides by who made the process"
