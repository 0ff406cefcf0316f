"""The gate from end to end: predicted from the shipped constants, measured on the fake machine."""

from __future__ import annotations

import dataclasses
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from auditrules.cost.constants import Constants
from hardcost.cli.input.options import GATE_FORMATS
from hardcost.library.gates import predict
from hardcost.machines import names
from hardcost.protocol.boot import Boot
from tests.cli.verbs.conversation import said
from tests.fakes.guest import answers
from tests.fakes.machine import FakeMachine

Say = Callable[[str], str]

OLD = """\
# The old rules
-w /etc/passwd -p wa -k identity
-a always,exit -F arch=b64 -S chmod,fchmod -F auid>=1000 -k modes
"""
DIR = "-a always,exit -F dir=/srv/data -F perm=wa -k data\n"
ON = "--machine fake --jobs 1 --progress none --workload 'syscalls calls=null+open'"


@pytest.fixture
def say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Say:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HARDCOST_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HARDCOST_STORE", str(tmp_path / "store" / "x.sqlite"))
    (tmp_path / "old.rules").write_text(OLD)
    (tmp_path / "new.rules").write_text(OLD + DIR)
    (tmp_path / "commented.rules").write_text("# More words\n\n" + OLD)
    (tmp_path / "broken.rules").write_text(OLD + "-a always,exit -S nosuch -k x\n")
    return lambda words: said(f"gate {words}", capsys)


def status(text: str) -> int:
    return int(text.rstrip().rpartition(" ")[2])


def result(text: str) -> Any:  # noqa: ANN401  (JSON)
    return json.loads(text.partition("--- stdout\n")[2].partition("--- s")[0])


@pytest.mark.parametrize("how", ["--predict", ON])
def test_a_directory_rule_is_named_with_its_line_and_its_cost(say: Say, how: str) -> None:
    text = say(f"old.rules new.rules {how} --max 'any<=1%' --format json")
    assert status(text) == 1
    found = result(text)
    assert found["predicted"] == (how == "--predict")
    (metric,) = (one for one in found["metrics"] if one["metric"] == "null")
    assert metric["over"]
    assert metric["cost_after"] - metric["cost_before"] == metric["difference"]
    (line,) = metric["lines"]
    assert (line["file"], line["line"], line["change"]) == ("new.rules", 4, "added")
    assert line["adds"] == metric["difference"] == (104.0 if how == "--predict" else 20.0)


@pytest.mark.parametrize("how", ["--predict", ON])
def test_a_change_of_comments_passes(say: Say, how: str) -> None:
    text = say(f"old.rules commented.rules {how} --max 'any<=0%'")
    assert status(text) == 0
    assert "Nothing grew" in text


@pytest.mark.parametrize("how", ["--predict", ON])
@pytest.mark.parametrize("names", ["old.rules broken.rules", "broken.rules old.rules"])
def test_rules_that_cannot_be_loaded_end_with_status_2(say: Say, how: str, names: str) -> None:
    text = say(f"{names} {how} --max 'any<=1%'")
    assert status(text) == 2
    assert "broken.rules:4" in text
    assert "nosuch" in text


def test_a_removed_rule_makes_things_cheaper(say: Say) -> None:
    text = say(f"new.rules old.rules {ON} --max 'any<=0%' --format json")
    assert status(text) == 0
    (metric,) = (one for one in result(text)["metrics"] if one["metric"] == "open")
    (line,) = metric["lines"]
    assert (line["change"], line["adds"], line["file"]) == ("removed", -20.0, "new.rules")


def test_within_the_limit_of_a_metric_of_its_own(say: Say) -> None:
    assert status(say(f"old.rules new.rules {ON} --max 'null<=50%' --max 'any<=5%'")) == 0
    assert status(say(f"old.rules new.rules {ON} --max 'null<=5%' --max 'any<=50%'")) == 1
    assert status(say(f"old.rules new.rules {ON} --max 'open<=5%'")) == 0


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ("--max 'opne<=5%'", "there is no metric 'opne'"),
        ("--max 5%", "names no metric"),
        ("--max 'open<=5%' --max 'open<=6%'", "has two limits"),
        ("--write nosuch=x", "is not FORMAT=FILE"),
    ],
)
def test_a_wrong_limit_or_file_is_refused(say: Say, words: str, what: str) -> None:
    text = say(f"old.rules new.rules --predict {words}")
    assert status(text) == 2
    assert what in text


def test_settings_that_are_no_rules_cannot_be_predicted(say: Say, tmp_path: Path) -> None:
    (tmp_path / "a.conf").write_text("vm.overcommit_memory = 0\n")
    (tmp_path / "b.conf").write_text("vm.overcommit_memory = 2\n")
    refused = say("a.conf b.conf --predict")
    assert status(refused) == 2
    assert "vm.overcommit_memory=2" in refused
    measured = say(f"a.conf b.conf {ON} --max 'any<=1%' --format json")
    assert status(measured) == 1
    added = {
        (line["file"], line["line"], line["change"]): line["adds"]
        for one in result(measured)["metrics"]
        for line in one["lines"]
        if one["metric"] == "null"
    }
    assert added == {("b.conf", 1, "added"): 10.0}


@pytest.mark.parametrize("names", ["some.toml less.toml", "less.toml some.toml"])
def test_no_change_is_predicted_that_adds_or_removes_a_setting(
    say: Say, tmp_path: Path, names: str
) -> None:
    less = 'title = "one"\n[audit]\nrules = ["-w /etc/passwd -p wa -k identity"]\n'
    (tmp_path / "less.toml").write_text(less)
    (tmp_path / "some.toml").write_text(f'{less}[sysctl]\n"vm.overcommit_memory" = 2\n')
    refused = say(f"{names} --predict")
    assert status(refused) == 2
    assert "vm.overcommit_memory=2" in refused


def test_what_can_t_be_predicted_is_listed_or_refused(
    say: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "task.rules").write_text(f"{OLD}-a never,task -F auid=1000\n")
    reason = "null (not predicted: the list task decides by who made the process)"
    found = result(say("old.rules task.rules --predict --format json"))
    assert reason in found["without_a_number"]
    lacking = dataclasses.replace(Constants.of_debian(), without={"null": 500.0})
    monkeypatch.setattr(predict, "constants_for", lambda *_: (lacking, ()))
    text = say("old.rules task.rules --predict")
    assert status(text) == 2
    assert f"no metric can be predicted: {reason}" in text


def test_from_no_rule_that_is_paid_for_to_some(say: Say, tmp_path: Path) -> None:
    (tmp_path / "none.rules").write_text("-a never,user -F uid=70001\n")
    for how in ("--predict", ON):
        found = result(say(f"none.rules new.rules {how} --format json"))
        fixed = {one["metric"]: one["cost"] for one in found["fixed"]}
        for one in found["metrics"]:
            parts = sum(line["adds"] for line in one["lines"])
            assert parts + fixed[one["metric"]] + one["rest"] == one["difference"]
        # The fake machine's rules share no work.
        assert fixed["null"] == (354.0 if how == "--predict" else 0.0)


def test_constants_of_an_earlier_hardcost_are_refused(
    say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    earlier = dataclasses.replace(Constants.of_debian(), without={})
    monkeypatch.setattr(predict, "constants_for", lambda *_: (earlier, ()))
    text = say("old.rules new.rules --predict --max 'any<=5%'")
    assert status(text) == 2
    assert "were fitted by an earlier hardcost" in text
    assert "rules cost --fit" in text


def test_a_kernel_of_another_release_than_the_constants_is_noted(
    say: Say, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    about = Constants.of_debian().about

    class Guest(FakeMachine):
        def environment(self, boot: Boot) -> dict[str, str]:
            return {**super().environment(boot), **about, "kernel": "6.1.0-999-amd64"}

    async def make(*_: object) -> Guest:
        return Guest(answers)

    monkeypatch.setattr(names, "make", make)
    note = (
        f"costs on kernel 6.1.0-999-amd64 are predicted with the constants of {about['kernel']},"
        " of the same series"
    )
    gated = say("old.rules new.rules --predict --kernel debian:6.1 --format json")
    assert note in result(gated)["notes"]
    priced = said("rules cost old.rules --kernel debian:6.1", capsys)
    assert status(priced) == 0
    assert note in priced.partition("--- stderr\n")[2]


def test_every_form_is_written_beside_the_text(say: Say, tmp_path: Path) -> None:
    forms = ("text", "json", "junit", "sarif", "github", "gitlab", "markdown")
    words = " ".join(f"--write {form}=out.{form}" for form in forms)
    text = say(f"old.rules new.rules --predict --max 'any<=1%' {words}")
    assert status(text) == 1
    for form in forms:
        assert "redicted" in (tmp_path / f"out.{form}").read_text(), form


def test_a_measured_gate_is_a_run_that_can_be_reported(
    say: Say, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(say(f"old.rules new.rules {ON}")) == 0
    shown = said("report last", capsys)
    assert status(shown) == 0
    assert "head without new.rules:4" in shown


# Results ------------------------------------------------------------------------------------------


def test_two_results_are_compared_item_by_item(
    say: Say, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for name in ("old", "new"):
        printed = said(f"bill {name}.rules {ON} --format json", capsys)
        assert status(printed) == 0
        (tmp_path / f"{name}.json").write_text(json.dumps(result(printed)))
    by_files = say("old.json new.json --max 'any<=1%' --format json")
    by_runs = say("bill-old bill-new --max 'any<=1%' --format json")
    mixed = say("old.json bill-new --max 'any<=1%' --format json")
    for text in (by_files, by_runs, mixed):
        assert status(text) == 1
        (metric,) = (one for one in result(text)["metrics"] if one["metric"] == "null")
        assert metric["difference"] == 20.0
        assert [one["control"] for one in metric["lines"]] == [DIR.strip()]
    assert result(by_runs)["metrics"][0]["lines"][0]["change"] == "added"


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("[]", "no JSON object"),
        ("{", "not JSON"),
        ('{"compared_to": {}}', "comparison of two runs already"),
        ('{"run": "x"}', "cells: field required"),
    ],
)
def test_a_file_that_is_no_result_is_refused(
    say: Say, tmp_path: Path, content: str, what: str
) -> None:
    (tmp_path / "x.json").write_text(content)
    text = say("x.json x.json")
    assert status(text) == 2
    assert what in text


def test_a_result_and_a_profile_are_not_compared(say: Say, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(
        '{"run": "r", "study": "s", "machine": "vm", "instrument": "insn", "environment": {},'
        ' "cells": []}'
    )
    assert "'x.json' is a result and 'old.rules' is not" in say("old.rules x.json")
    assert "no metric in common" in say("x.json x.json")


# Git ----------------------------------------------------------------------------------------------


def test_two_revisions_of_a_folder_are_compared_under_their_names_there(
    say: Say, tmp_path: Path
) -> None:
    def git(*words: str) -> None:
        who = ["-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *who, *words], cwd=tmp_path, check=True, capture_output=True)

    (tmp_path / "rules.d").mkdir()
    (tmp_path / "rules.d" / "10.rules").write_text(OLD)
    git("init", "-q", "-b", "main")
    git("add", "rules.d")
    git("commit", "-q", "-m", "1")
    (tmp_path / "rules.d" / "10.rules").write_text(OLD + DIR)
    now = say("--git HEAD rules.d --predict --max 'any<=1%' --format json")
    git("commit", "-q", "-a", "-m", "2")
    (tmp_path / "rules.d" / "10.rules").write_text("not committed")
    then = say("--git HEAD~..HEAD rules.d --predict --max 'any<=1%' --format json")
    for text in (now, then):
        assert status(text) == 1
        (line,) = result(text)["lines"]
        assert (line["file"], line["line"]) == ("rules.d/10.rules", 4)
    (tmp_path / "new.d").mkdir()
    (tmp_path / "new.d" / "20.rules").write_text(DIR)
    for how in ("--predict", ON):
        new = result(say(f"--git HEAD new.d {how} --max 'any<=1%' --format json"))
        assert new["base"] == "HEAD (which has no new.d)"
        assert [(one["file"], one["change"]) for one in new["lines"]] == [
            ("new.d/20.rules", "added")
        ]
    assert status(say("--git HEAD nothing.d --predict")) == 2
    back = say("--git HEAD..HEAD~ rules.d --predict --max 'any<=1%' --format json")
    assert status(back) == 0
    (removed,) = result(back)["lines"]
    assert (removed["file"], removed["change"]) == ("HEAD:rules.d/10.rules", "removed")
    broken = say("--git HEAD rules.d --predict")
    assert status(broken) == 2
    assert "rules.d/10.rules:1" in broken
    assert status(say("--git nosuch..HEAD rules.d --predict")) == 2
    assert status(say("--git=--output=x..HEAD rules.d --predict")) == 2


ACCEPTED = "# hardcost: ignore=over-limit the auditors want it\n"


@pytest.mark.parametrize("how", ["--predict", ON])
def test_a_comment_accepts_what_a_line_adds_and_nothing_else(
    say: Say, tmp_path: Path, how: str
) -> None:
    (tmp_path / "accepted.rules").write_text(OLD + ACCEPTED + DIR)
    text = say(f"old.rules accepted.rules {how} --max 'any<=1%' --write sarif=x.sarif")
    assert status(text) == 0
    assert "apart from what accepted.rules:5 adds, which a comment accepts." in text
    assert json.loads((tmp_path / "x.sarif").read_text())["runs"][0]["results"] == []
    found = result(say(f"old.rules accepted.rules {how} --max 'any<=1%' --format json"))
    assert (found["passed"], [one["accepted"] for one in found["lines"]]) == (True, [True])
    more = DIR.replace("data", "more")
    (tmp_path / "more.rules").write_text(OLD + ACCEPTED + DIR + more)
    text = say(f"old.rules more.rules {how} --max 'any<=1%' --format github")
    assert status(text) == 1
    assert "::error file=more.rules,line=6," in text
    assert "line=5," not in text


def test_every_format_ends_with_the_same_status_and_sarif_goes_to_a_file(
    say: Say, tmp_path: Path
) -> None:
    for limit, end in (("1%", 1), ("90%", 0)):
        for form in GATE_FORMATS:
            words = f"--predict --max 'any<={limit}' --format {form} --sarif-file x.sarif"
            assert status(say(f"old.rules new.rules {words}")) == end
        log = json.loads((tmp_path / "x.sarif").read_text())
        assert log["runs"][0]["invocations"][0]["exitCode"] == end


def test_fail_on_warning_fails_for_results_that_may_not_be_comparable(
    say: Say, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = result(said(f"bill old.rules {ON} --format json", capsys))
    for name in ("6.1", "6.12"):
        one["environment"]["kernel"] = name
        (tmp_path / f"{name}.json").write_text(json.dumps(one))
    assert status(say("6.1.json 6.12.json --max 'any<=1%'")) == 0
    text = say("6.1.json 6.12.json --max 'any<=1%' --fail-on warning --format json")
    assert status(text) == 1
    assert result(text)["warnings"]
    assert not result(text)["passed"]


def test_a_job_on_github_gets_annotations_by_itself(
    say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = "old.rules new.rules --predict --max 'any<=1%'"
    assert "::error" not in say(words)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert "\n::error file=new.rules,line=4," in say(words)
    printed = say(f"{words} --format github")
    assert printed.count("::error file=new.rules") == 1
