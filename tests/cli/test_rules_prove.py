from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from hardcost.cli.rules.prove import prove
from hardcost.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

WATCH, CALL = "-w /etc/shadow -p wa -k identity", "-a always,exit -F arch=b64 -S openat -k opened"


def run(folder: Path, a: str, b: str, *words: str) -> Result:
    for name, text in (("a.rules", a), ("b.rules", b)):
        (folder / name).write_text(text + "\n")
    paths = [str(folder / name) for name in ("a.rules", "b.rules")]
    return CliRunner().invoke(prove, [*paths, *words])


def test_a_proof_is_stated_with_what_it_rests_on(tmp_path: Path) -> None:
    result = run(tmp_path, f"{WATCH}\n-w /etc/group -p wa", f"-w /etc/group -p wa\n{WATCH}")
    assert result.exit_code == 0
    assert result.output.startswith("A and B are equivalent: proved for ")
    assert "watched files are not replaced" in result.output


def test_a_difference_is_an_event_with_the_rules_that_decide(tmp_path: Path) -> None:
    result = run(tmp_path, WATCH, WATCH.replace("-p wa", "-p w"))
    assert result.exit_code == 1
    lines = result.output.splitlines()
    assert "syscall=fchmodat arch=b64" in lines[2]
    assert "path=/etc/shadow perm=a" in lines[2]
    assert lines[4] == f"  A records it, key identity: {tmp_path / 'a.rules'}:1: {WATCH}"
    assert lines[5] == "  B does not record it: no rule decides"


def test_a_difference_in_another_list_is_an_event(tmp_path: Path) -> None:
    result = run(tmp_path, CALL, "-a never,task -F uid=5\n" + CALL)
    assert "An event that shows it:" in result.output


def test_the_same_as_json(tmp_path: Path) -> None:
    result = run(tmp_path, CALL, "-a never,task\n" + CALL, "--format", "json")
    assert result.exit_code == 1
    said = json.loads(result.stdout)
    assert said["equal"] is False
    assert said["difference"]["list"] == "task"
    assert said["difference"]["b"] == {
        "decision": "never",
        "recorded": False,
        "key": None,
        "rule": "-a never,task",
        "file": str(tmp_path / "b.rules"),
        "line": 1,
    }


@pytest.mark.parametrize(
    ("other", "option"),
    [
        (CALL.replace("opened", "other"), "--ignore-keys"),
        (f"{CALL}\n-a always,exit -F arch=b32 -S openat -k opened", "--no-b32"),
        (f"{CALL}\n-a always,exit -F arch=b64 -S read", "--at-least"),
        (f"{CALL}\n-a never,exit -F arch=b64 -S read", "--ignore-raised"),
    ],
)
def test_a_relation_may_be_weaker(tmp_path: Path, other: str, option: str) -> None:
    assert run(tmp_path, CALL, other).exit_code == 1
    assert run(tmp_path, CALL, other, option).exit_code == 0


def test_what_is_not_known_is_no_no(tmp_path: Path) -> None:
    ordered = "-a always,exit -S openat -F subj_sen<s1"
    result = run(tmp_path, ordered, f"{CALL}\n{ordered}", "--at-least")
    assert result.exit_code == 3
    assert "not known" in result.output


def test_a_rule_that_stands_twice_is_refused_as_the_kernel_does(tmp_path: Path) -> None:
    result = run(tmp_path, f"{CALL}\n{CALL}", CALL)
    assert isinstance(result.exception, InputError)
    assert str(result.exception.problems[0].place) == f"{tmp_path / 'a.rules'}:2"
    tolerant = run(tmp_path, f"-c\n{CALL}\n{CALL}", CALL)
    assert tolerant.exit_code == 0
    assert "left out" in tolerant.stderr


def test_what_is_wrong_in_both_is_told_at_once(tmp_path: Path) -> None:
    result = run(tmp_path, "-a always,exit -S nosuch", "-a always,exit -F uid=")
    assert isinstance(result.exception, InputError)
    assert len(result.exception.problems) == 2


def test_names_are_resolved_by_the_files_given(tmp_path: Path) -> None:
    (tmp_path / "passwd").write_text("someone:x:1234:1234::/:/bin/sh\n")
    named, number = (
        f"-a always,exit -F arch=b64 -S openat -F uid={one}" for one in ("someone", "1234")
    )
    unresolved = run(tmp_path, named, number)
    assert unresolved.exit_code == 1
    event, remark = unresolved.output.splitlines()[2:4]
    assert "(" not in event
    assert remark.startswith("  (where user someone is ")
    assert run(tmp_path, named, number, "--passwd", str(tmp_path / "passwd")).exit_code == 0


def test_a_directory_that_one_set_shows_is_one_in_the_other(tmp_path: Path) -> None:
    inside = "-w /srv/d/f -p wa -k f"
    result = run(tmp_path, f"-w /srv/d -p wa -k f\n{inside}", "-w /srv/d -p wa -k f")
    assert result.exit_code == 0
    assert "- /srv/d: a directory" in result.output


def test_no_name_can_act_on_a_terminal(tmp_path: Path) -> None:
    result = run(tmp_path, CALL, CALL.replace("opened", "open\N{RIGHT-TO-LEFT OVERRIDE}ed"))
    assert result.exit_code == 1
    assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in result.output


def test_a_set_without_rules_records_nothing_and_one_that_turns_audit_off_is_told(
    tmp_path: Path,
) -> None:
    assert run(tmp_path, "-b 8192", "-b 1").exit_code == 0
    result = run(tmp_path, "-e 0\n" + CALL, "-b 8192")
    assert result.exit_code == 1
    assert "a.rules:1: it turns audit off" in result.stderr
