from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from auditrules.cli.group import auditrules
from auditrules.model.errors import InputError

WATCH, CALL = "-w /etc/shadow -p wa -k identity", "-a always,exit -F arch=b64 -S openat -k opened"
FILE = "-a always,exit -F path=/etc/shadow -F perm=wa -k identity"
TREE = FILE.replace("path=", "dir=")


def run(folder: Path, a: str, b: str, *words: str) -> Result:
    for name, text in (("a.rules", a), ("b.rules", b)):
        (folder / name).write_text(text + "\n")
    paths = [str(folder / name) for name in ("a.rules", "b.rules")]
    return CliRunner().invoke(auditrules, ["prove", *paths, *words])


def test_a_proof_is_stated_with_what_it_rests_on(tmp_path: Path) -> None:
    other = "-a always,exit -F path=/etc/group -F perm=wa"
    result = run(tmp_path, f"{FILE}\n{other}", f"{other}\n{FILE}")
    assert result.exit_code == 0
    assert result.output.startswith("A and B are equivalent: proved for ")
    assert "watched files, directories and programs are not replaced" in result.output


def test_a_difference_is_an_event_with_the_rules_that_decide(tmp_path: Path) -> None:
    result = run(tmp_path, FILE, FILE.replace("perm=wa", "perm=w"))
    assert result.exit_code == 1
    lines = result.output.splitlines()
    assert "syscall=fchmodat arch=b64" in lines[2]
    assert "path=/etc/shadow perm=a" in lines[2]
    assert lines[4] == f"  A records it, key identity: {tmp_path / 'a.rules'}:1: {FILE}"
    assert lines[5] == "  B does not record it: no rule decides"


def test_a_difference_in_another_list_is_an_event(tmp_path: Path) -> None:
    result = run(tmp_path, CALL, "-a never,task -F uid=5\n" + CALL)
    assert "An event that shows the difference:" in result.output


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
    assert "It is unknown whether A and B are such that" in result.output


def test_a_rule_that_stands_twice_is_left_out_and_where_auditctl_stops_is_said(
    tmp_path: Path,
) -> None:
    result = run(tmp_path, f"{CALL}\n{CALL}", CALL)
    assert result.exit_code == 0
    second = f"{tmp_path / 'a.rules'}:2"
    assert f"left out: 1 rule that repeats an earlier one: {second}" in result.stderr
    assert f"auditctl stops at {second} today, and loads no line below it" in result.stderr
    tolerant = run(tmp_path, f"-c\n{CALL}\n{CALL}", CALL)
    assert tolerant.exit_code == 0
    assert "auditctl stops" not in tolerant.stderr


def test_what_is_wrong_in_both_is_reported_at_once(tmp_path: Path) -> None:
    result = run(tmp_path, "-a always,exit -S nosuch", "-a always,exit -F uid=")
    assert isinstance(result.exception, InputError)
    places = [str(one.place) for one in result.exception.problems if one.place]
    assert places == [f"{tmp_path / name}:1:19" for name in ("a.rules", "b.rules")]


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


def test_a_path_below_a_watched_one_shows_that_it_is_a_directory(tmp_path: Path) -> None:
    inside = "-w /srv/d/f -p wa -k f"
    result = run(tmp_path, f"-w /srv/d -p wa -k f\n{inside}", "-w /srv/d -p wa -k f")
    assert result.exit_code == 0
    assert "This holds whether or not these are directories: /srv/d, /srv/d/f" in result.output


def test_what_a_watch_means_is_not_guessed(tmp_path: Path) -> None:
    for form, kind in ((FILE, "a directory"), (TREE, "no directory")):
        result = run(tmp_path, WATCH, form)
        assert result.exit_code == 1
        assert f"(where /etc/shadow is {kind}; pass this to explain with" in result.output


def test_a_list_of_paths_decides_what_a_watch_means_and_is_named_as_assumed(tmp_path: Path) -> None:
    paths = tmp_path / "paths"
    for listed, form, said in (
        ("/etc/shadow\n", FILE, "- /etc/shadow: no directory"),
        ("/etc/shadow/\n", TREE, "- /etc/shadow: a directory"),
    ):
        paths.write_text(listed)
        result = run(tmp_path, WATCH, form, "--paths", str(paths))
        assert result.exit_code == 0
        assert said in result.output
        other = FILE if form == TREE else TREE
        assert run(tmp_path, WATCH, other, "--paths", str(paths)).exit_code == 1


def test_a_folder_decides_what_a_watch_means(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "etc" / "shadow").mkdir(parents=True)
    assert run(tmp_path, WATCH, TREE, "--root", str(root)).exit_code == 0
    (root / "etc" / "shadow").rmdir()
    # what will be made there is not known
    assert run(tmp_path, WATCH, FILE, "--root", str(root)).exit_code == 1
    (root / "etc" / "shadow").touch()
    assert run(tmp_path, WATCH, FILE, "--root", str(root)).exit_code == 0


def test_a_list_of_paths_has_to_be_one(tmp_path: Path) -> None:
    paths = tmp_path / "paths"
    paths.write_text("# these\n/etc/shadow\netc/passwd\n/etc/shadow/\n")
    result = run(tmp_path, WATCH, FILE, "--paths", str(paths))
    assert isinstance(result.exception, InputError)
    assert [str(one.place) for one in result.exception.problems] == [f"{paths}:3", f"{paths}:4"]


def test_sets_that_hide_other_files_are_not_equal(tmp_path: Path) -> None:
    hide = "-a never,filesystem -F fstype=tracefs"
    result = run(tmp_path, CALL, f"{hide}\n{CALL}")
    assert result.exit_code == 1
    assert "A records it, key opened, with 1 file in it" in result.output
    assert "B records it, key opened, with no file in it" in result.output


def test_lines_at_fault_are_left_out_where_that_is_asked_for(tmp_path: Path) -> None:
    faulty = "-a always,exit -F arch=b64 -S mount -k -F mounts"
    assert isinstance(run(tmp_path, f"{faulty}\n{CALL}", CALL).exception, InputError)
    for words in (["--leave-out-faulty"], []):
        text = f"{faulty}\n{CALL}" if words else f"-i\n{faulty}\n{CALL}"
        result = run(tmp_path, text, CALL, *words)
        assert result.exit_code == 0
        assert "left out: 1 line" in result.stderr
        assert "'mounts' belongs to no option" in result.stderr


def test_a_line_below_the_one_that_asks_to_go_on_is_tolerated_and_one_above_is_not(
    tmp_path: Path,
) -> None:
    assert run(tmp_path, f"-i\n-Z\n{CALL}", CALL).exit_code == 0
    result = run(tmp_path, f"-Z\n-i\n{CALL}", CALL)
    assert isinstance(result.exception, InputError)


def test_the_limit_is_one_of_processor_time_and_covers_the_whole_proof(tmp_path: Path) -> None:
    many = [f"-w /etc/d{number} -p wa -k k{number % 5}" for number in range(300)]
    result = run(tmp_path, "\n".join(many), "\n".join(reversed(many)), "--seconds", "0.1")
    assert result.exit_code == 3
    assert "--seconds gives it more" in result.output


def test_no_name_can_act_on_a_terminal(tmp_path: Path) -> None:
    result = run(tmp_path, CALL, CALL.replace("opened", "open\N{RIGHT-TO-LEFT OVERRIDE}ed"))
    assert result.exit_code == 1
    assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in result.output


def test_a_set_without_rules_records_nothing_and_one_that_turns_audit_off_is_reported(
    tmp_path: Path,
) -> None:
    assert run(tmp_path, "-b 8192", "-b 1").exit_code == 0
    result = run(tmp_path, "-e 0\n" + CALL, "-b 8192")
    assert result.exit_code == 1
    assert "a.rules:1: it turns audit off" in result.stderr


def test_a_path_with_steps_back_rests_on_there_being_no_link(tmp_path: Path) -> None:
    tree = "-a always,exit -F dir=/etc -F perm=wa -k k"
    back = "-a always,exit -F path=/l/../etc/passwd -F perm=wa -k k"
    result = run(tmp_path, f"{back}\n{tree}", tree)
    assert result.exit_code == 0
    assert "- /etc/passwd and /l/../etc/passwd are the same" in result.output


def test_paths_that_end_in_a_dot_are_compared_as_the_directory(tmp_path: Path) -> None:
    for path in ("/x/.", "//", "/x/../y"):
        watch = f"-w {path} -p wa -k k"
        assert run(tmp_path, watch, watch).exit_code == 0
        assert run(tmp_path, watch, watch.replace("wa", "w")).exit_code == 1


def test_what_is_left_out_is_part_of_what_the_answer_rests_on(tmp_path: Path) -> None:
    result = run(tmp_path, f"-Z\n{CALL}", CALL, "--leave-out-faulty")
    assert (
        f"- of A, {tmp_path / 'a.rules'}:1: left out, since auditctl refuses them" in result.output
    )


def test_a_watch_behind_another_option_is_named_as_assumed(tmp_path: Path) -> None:
    (tmp_path / "paths").write_text("/etc/foo\n")
    watch = "-S all -w /etc/foo -p wa -k k"
    result = run(tmp_path, watch, watch, "--paths", str(tmp_path / "paths"))
    assert "- /etc/foo: no directory" in result.output


def test_the_answer_says_once_which_architecture_it_is_for(tmp_path: Path) -> None:
    rule = "-w /etc/shadow -p wa -k x"
    out = run(tmp_path, rule, rule).stdout
    assert out.count("for x86-64; other architectures not checked") == 1
    data = json.loads(run(tmp_path, rule, rule, "--format", "json").stdout)
    assert data["architecture"] == {"checked": ["x86-64"], "others": "not checked"}


def test_a_rule_for_another_architecture_is_not_taken_for_refused(tmp_path: Path) -> None:
    arm = "-a always,exit -F arch=aarch64 -S openat -k x\n-w /etc/shadow -p wa -k x"
    refused = run(tmp_path, arm, arm).exception
    assert isinstance(refused, InputError)
    said = [one.message for one in refused.problems]
    assert "not checked: arch=aarch64 is another architecture than x86-64" in said
    assert not any("auditctl stops" in one for one in said)
    left_out = run(tmp_path, arm, arm, "--leave-out-faulty")
    assert left_out.exit_code == 0
    assert "left out, since they are for another architecture" in left_out.stdout
