"""The workload `dd`: four ways to wait for the disk, each file looked at."""

from __future__ import annotations

from typing import Any

import pytest

from hardcost.errors import InputError, TrialError
from hardcost.instruments.names import INSTRUMENTS
from hardcost.workloads import dd
from tests.protocol.json_messages import as_sent, typed
from tests.workloads.run_answers import ran

asked = dd.KIND.read_parameters

INSN = INSTRUMENTS["insn"]
ONE = {"cases": "dsync", "count": "2"}


def test_each_case_has_its_flag_and_its_own_file() -> None:
    job = as_sent(dd.requests(asked({}), INSN))
    cases = [one for one in job if one["clock"] is not None]
    flags = [one["argv"][-1] for one in cases]
    assert flags == ["conv=fdatasync", "conv=fsync", "oflag=dsync", "oflag=sync"]
    assert len(job) == 2 + 3 * len(cases)
    assert {"bs=1M", "if=/dev/zero", "count=64"} < set(cases[0]["argv"])


def test_the_first_file_of_all_is_not_measured() -> None:
    first, gone, *_ = as_sent(dd.requests(asked({}), INSN))
    assert (first["argv"][0], first["clock"]) == ("dd", None)
    assert (gone["argv"][0], gone["clock"]) == ("rm", None)


def test_a_case_is_measured_whole() -> None:
    (found,) = dd.read_metrics(
        asked(ONE),
        typed([ran("warm up"), ran("dsync"), ran("dsync size", "2097152\n")]),
        INSN,
    )
    assert (found.metric, found.unit, found.samples) == ("dsync", INSN.whole, (1000,))


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ([ran("warm up", status=1, stderr="dd: No space left")], "first file.*No space left"),
        (
            [ran("warm up"), ran("dsync"), ran("dsync size", "1048576\n")],
            "1048576 bytes, not 2097152",
        ),
        (
            [ran("warm up"), ran("dsync", status=1, stderr="dd: No space left")],
            "oflag=dsync.*No space left",
        ),
        (
            [ran("warm up"), ran("dsync"), ran("dsync size", status=1, stderr="no such file")],
            "no such file",
        ),
    ],
)
def test_a_file_that_is_not_whole_is_never_a_number(
    answers: list[dict[str, Any]], message: str
) -> None:
    with pytest.raises(TrialError, match=message):
        dd.read_metrics(asked(ONE), typed(answers), INSN)


def test_a_file_larger_than_the_usual_disk_gets_a_larger_one() -> None:
    assert dd.disk(asked({})) == dd.disk(asked({"count": "1024"})) == 0
    assert dd.disk(asked({"count": "20000"})) > 20000 / 1024


@pytest.mark.parametrize("parameters", [{"count": "0"}, {"count": "20001"}, {"cases": "async"}])
def test_a_value_that_cannot_be_is_an_error(parameters: dict[str, str]) -> None:
    with pytest.raises(InputError):
        asked(parameters)
