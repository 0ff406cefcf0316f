"""`hardcost run` on this machine itself: times with intervals, trials as precision asks for."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from hardcost.cli.command import hardcost
from hardcost.errors import InputError

STUDY = """\
title = "this machine as it is"
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


def run(study: str, *words: str) -> None:
    hardcost.main(["run", study, "--format", "json", *words], standalone_mode=False)


def measured(study: str, capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    run(study, "--machine", "host", *words)
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_a_run_on_this_host_says_machine_instrument_unit_and_kernel(
    study: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    found = measured(study, capsys, "--repetitions", "2")
    (cell,) = found["cells"]
    assert (found["machine"], found["instrument"], cell["unit"]) == ("host", "time", "ns/op")
    assert found["environment"]["kernel"].startswith(os.uname().release)
    assert "qemu" not in found["environment"]
    assert cell["trials"] == 2
    assert cell["value"] > 1
    assert not (tmp_path / "cache" / "kernels").exists()


def test_a_call_is_timed_while_a_copy_makes_it_too(
    study: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("there is one processor")
    words = ["--repetitions", "2", "--workload", "syscalls calls=null copies=2"]
    (cell,) = measured(study, capsys, *words)["cells"]
    assert (cell["metric"], cell["workload"]) == ("null", "syscalls calls=null copies=2")
    assert cell["value"] > 1


def test_trials_are_added_for_precision_until_time_is_up_and_a_note_says_so(
    study: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = measured(study, capsys, "--precision", "0.0001%", "--time-limit", "1")
    assert found["cells"][0]["trials"] >= 10
    assert any(re.search(r"time was up after \d+ rounds", note) for note in found["notes"])


def test_this_host_is_not_changed_unless_root_says_so(study: str, tmp_path: Path) -> None:
    changing = '[[configuration]]\nname = "b"\nsysctl = { "kernel.kptr_restrict" = "2" }\n'
    (tmp_path / "study.toml").write_text(STUDY + changing)
    with pytest.raises(InputError, match=r"host is not to be changed, and .* writing") as raised:
        run(study, "--machine", "host")
    assert raised.value.problems[0].hint == (
        "--yes, said by root, has it changed for each trial and put back; or --machine vm measures"
        " it in a guest"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--precision", "1%", "--instrument", "insn"], "insn is exact and needs no repeated"),
        (["--time-limit", "60"], "--time-limit limits --precision, which is missing"),
        (["--precision", "1%", "--time-limit", "nan"], "--time-limit: nan is no number"),
        (["--precision", "nan%"], "--precision: 'nan%' is not a percentage"),
        (["--machine", "host", "--instrument", "insn"], r"the instrument insn \(--instrument time"),
        (["--machine", "host", "--start", "cold"], "it does not boot for each trial"),
        (["--machine", "host", "--cpu", "qemu64"], "--cpu: a real machine is measured as it is"),
        (["--machine", "host", "--guest", "debian:13"], "--guest: a real machine is measured as"),
        (["--machine", "host", "--record", "cpu"], "is not to be changed, and the .* recorders"),
        (["--machine", "ssh:-x"], "names no host"),
        (
            ["--machine", "host", "--workload", "syscalls copies=1000"],
            r"copies=1000 needs 1000 processors, and the machine host has \d+ that may be used",
        ),
        (
            ["--machine", "vm", "--instrument", "insn", "--workload", "syscalls copies=2"],
            "copies=2 is not for the instrument insn: it counts on one emulated processor",
        ),
    ],
)
def test_what_can_not_be_asked_of_a_real_machine_is_refused(
    study: str, words: list[str], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        run(study, *words)
