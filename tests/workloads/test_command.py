"""The workload `command`: a program goes into the guest, and its failure is never a number."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from hardcost.errors import InputError, TrialError
from hardcost.instruments.names import INSTRUMENTS
from hardcost.workloads import command
from tests.protocol.json_messages import as_sent, typed

asked = command.KIND.read_parameters

INSN = INSTRUMENTS["insn"]
DONE = {"event": "command", "status": 0, "signal": None, "ticks": 7, "stderr": "", "audit": None}


def test_the_program_is_installed_and_run_with_its_arguments(tmp_path: Path) -> None:
    (tmp_path / "p").write_bytes(b"\x7fELF program")
    install, run = as_sent(
        command.requests(asked({"file": str(tmp_path / "p"), "args": "-n+4"}), INSN)
    )
    assert base64.b64decode(install["base64"]) == b"\x7fELF program"
    assert run["argv"] == [install["path"], "-n", "4"]
    assert run["clock"] == INSN.clock


def test_a_program_that_changes_is_another_job(tmp_path: Path) -> None:
    (tmp_path / "p").write_bytes(b"\x7fELF one")
    first = as_sent(command.requests(asked({"file": str(tmp_path / "p")}), INSN))
    (tmp_path / "p").write_bytes(b"\x7fELF two")
    assert as_sent(command.requests(asked({"file": str(tmp_path / "p")}), INSN)) != first


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "can't be read"), (b"#!/bin/sh\n", "not a program"), (b"", "not a program")],
)
def test_what_is_no_program_is_an_error(
    tmp_path: Path, content: bytes | None, message: str
) -> None:
    if content is not None:
        (tmp_path / "p").write_bytes(content)
    with pytest.raises(InputError, match=message):
        command.requests(asked({"file": str(tmp_path / "p")}), INSN)


def test_a_program_has_to_be_named() -> None:
    with pytest.raises(InputError, match="needs the parameter file") as error:
        asked({})
    assert error.value.problems[0].hint


def test_the_whole_run_is_one_sample() -> None:
    (found,) = command.read_metrics(asked({"file": "p"}), typed([DONE]), INSN)
    assert (found.metric, found.samples, found.unit) == ("wall", (7.0,), INSN.whole)


def run(ticks: int, interruptions: int) -> dict[str, Any]:
    return {**DONE, "ticks": ticks, "interruptions": interruptions, "period": 4_000_000}


def test_a_tick_that_fell_into_one_run_and_not_into_another_does_not_decide() -> None:
    cold, tick = run(2_700_000, 1), 10_000
    with_few = [cold, *(run(2_000_000 + tick * (n < 2), int(n < 2)) for n in range(8))]
    with_many = [cold, *(run(2_000_000 + tick * (n < 6), int(n < 6)) for n in range(8))]
    for runs in (with_few, with_many):
        (found,) = command.read_metrics(asked({"file": "p"}), typed(runs), INSN)
        assert len(found.samples) == 8
        # Half the time between two ticks takes half a tick.
        assert found.samples == pytest.approx([2_005_000] * 8, abs=50)


def test_a_program_that_waits_is_taken_as_it_was() -> None:
    runs = [run(40_000_000 + n, 2 + n % 2) for n in range(4)]
    (found,) = command.read_metrics(asked({"file": "p"}), typed(runs), INSN)
    assert found.samples == pytest.approx([40_000_000] * 3, abs=5)


def test_records_of_all_runs_that_count_are_summed() -> None:
    audit = {"records": 3, "lost": 1, "by_key": {"a": 2}}
    (found,) = command.read_metrics(
        asked({"file": "p"}), typed([{**DONE, "audit": audit}] * 3), INSN
    )
    assert (found.fired, found.lost) == ({"a": 4}, 2)


def test_how_often_it_runs_is_a_number(tmp_path: Path) -> None:
    (tmp_path / "p").write_bytes(b"\x7fELF program")
    file = {"file": str(tmp_path / "p")}
    assert as_sent(command.requests(asked(file), INSN))[1]["runs"] == 9
    assert as_sent(command.requests(asked(file), INSTRUMENTS["time"]))[1]["runs"] == 1
    assert as_sent(command.requests(asked({**file, "runs": "3"}), INSN))[1]["runs"] == 3
    with pytest.raises(InputError, match="can't take 'many' for runs"):
        command.requests(asked({**file, "runs": "many"}), INSN)


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ([], "did not run"),
        ([{**DONE, "status": 3, "stderr": "no such thing"}], "status 3.*no such thing"),
        ([{**DONE, "status": None, "signal": 11}], "signal 11"),
    ],
)
def test_a_program_that_fails_is_never_a_number(
    answers: list[dict[str, Any]], message: str
) -> None:
    with pytest.raises(TrialError, match=message):
        command.read_metrics(asked({"file": "p"}), typed(answers), INSN)


@pytest.mark.parametrize(
    ("guest", "reason", "words"),
    [
        (
            "small",
            "'command: error while loading shared libraries: libselinux.so.1: cannot open'",
            ["library libselinux.so.1", "link /bin/ls with -static", 'lsm = "none"'],
        ),
        (
            "small",
            "the machine reports: /usr/local/bin/command: No such file or directory (os error 2)",
            ["loaded by", 'lsm = "none"'],
        ),
        ("small", "p ended with status 127: ''", ["starts", 'lsm = "none"']),
        ("debian", "p ended with status 127: ''", ["-static", "--image"]),
    ],
)
def test_what_a_guest_lacks_has_a_remedy(guest: str, reason: str, words: list[str]) -> None:
    said = command.remedy(asked({"file": "/bin/ls"}), guest, reason)
    assert said is not None
    for word in words:
        assert word in said


def test_a_program_that_fails_by_itself_has_no_remedy_of_ours() -> None:
    assert command.remedy(asked({"file": "p"}), "small", "p ended with status 1: ''") is None
    assert (
        command.remedy(asked({"file": "p"}), "small", "p ended with signal 11 in the guest") is None
    )


def test_a_program_on_the_path_is_named_where_its_bare_name_was_given() -> None:
    with pytest.raises(InputError, match="can't be read") as error:
        command.requests(asked({"file": "sh"}), INSN)
    assert str(error.value.problems[0].hint).startswith("file=/")
