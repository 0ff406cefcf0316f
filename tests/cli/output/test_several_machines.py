"""`hardcost run` on several machines: each has its own columns, and one that fails is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hardcost.cli.command import hardcost
from hardcost.errors import InputError

STUDY = """\
title = "two machines"
baseline = "as it is"
workloads = ["syscalls calls=null"]
instrument = "time"
[[configuration]]
name = "as it is"
"""


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("HARDCOST_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HARDCOST_STORE", str(tmp_path / "x.sqlite"))
    (tmp_path / "study.toml").write_text(STUDY)
    return str(tmp_path / "study.toml")


def run(study: str, *words: str) -> Result:
    return CliRunner().invoke(hardcost, ["run", study, *words])


def test_each_machine_has_columns_and_a_run_of_its_own(study: str) -> None:
    both = ("--machine", "fakehost", "--machine", "fake")
    shown = run(study, *both)
    assert shown.exit_code == 0
    assert "- fakehost -" in shown.stdout
    assert "- fake -" in shown.stdout
    found = json.loads(run(study, *both, "--format", "json").stdout)["machines"]
    assert [one["machine"] for one in found] == ["fakehost", "fake"]
    assert len({one["run"] for one in found}) == 2
    first, second = (one["cells"][0]["value"] for one in found)
    assert second == pytest.approx(4 * first, rel=0.02)  # fakehost's quarter of a ns, fake's one


def test_a_machine_that_fails_is_named_and_the_others_are_measured(study: str) -> None:
    nobody_listens = "ssh:nobody@127.0.0.1:1"
    result = run(study, "--machine", nobody_listens, "--machine", "fake", "--format", "json")
    assert result.exit_code == 3
    assert f"{nobody_listens}: failed: " in result.stderr
    found = json.loads(result.stdout)["machines"]
    assert [one["machine"] for one in found] == ["fake"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--machine", "fake,fake"), "twice"),
        (("--machine", "fake", "--machine", "fakehost", "--format", "csv"), "of one run"),
        (("--machine", "fake", "--machine", "fakehost", "--report", "x.html"), "--report"),
    ],
)
def test_what_is_about_one_run_is_refused_of_several(
    study: str, words: tuple[str, ...], message: str
) -> None:
    result = run(study, *words)
    assert isinstance(result.exception, InputError)
    assert message in str(result.exception)


def test_a_bill_is_of_one_machine(study: str) -> None:
    words = ["bill", study, "--machine", "fake", "--machine", "fakehost"]
    result = CliRunner().invoke(hardcost, words)
    assert isinstance(result.exception, InputError)
    assert "a call measures on one" in str(result.exception)
