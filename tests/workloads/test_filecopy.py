"""The workload `filecopy`: what is copied, and that an unequal copy is never a number."""

from __future__ import annotations

from typing import Any

import pytest

from hardcost.errors import InputError, TrialError
from hardcost.instruments.names import INSTRUMENTS
from hardcost.workloads import filecopy
from tests.protocol.json_messages import as_sent, typed
from tests.workloads.run_answers import ran

asked = filecopy.KIND.read_parameters

INSN = INSTRUMENTS["insn"]
TWO = {"concurrency": "2"}


def answers(digests: str = "d\nd\nd\n", **copy: object) -> list[dict[str, Any]]:
    return [
        {"event": "dropped"},
        ran("copy") | copy,
        ran("compare", digests),
        ran("remove", ticks=200, user=1, system=2),
    ]


def test_the_published_command_is_run_after_the_caches_are_dropped() -> None:
    drop, copy, compare, remove = as_sent(filecopy.requests(asked(TWO), INSN))
    assert drop["do"] == "dropcaches"
    words = "seq 1 2 | xargs -P 0 -i cp -a /srv/tree /home/user/copy_{}"
    assert copy["argv"] == ["sh", "-c", words]
    assert compare["argv"][-3:] == ["/srv/tree", "/home/user/copy_1", "/home/user/copy_2"]
    assert remove["argv"] == ["rm", "-rf", "/home/user/copy_1", "/home/user/copy_2"]


def test_copying_and_removing_are_measured_and_comparing_is_not() -> None:
    clocks = {one["name"]: one["clock"] for one in as_sent(filecopy.requests(asked(TWO), INSN))[1:]}
    assert clocks == {"copy": INSN.clock, "compare": None, "remove": INSN.clock}


def test_the_tree_has_as_many_files_as_asked_for() -> None:
    assert filecopy.tree(asked({"files": "7"})) == 7
    assert filecopy.tree(asked({})) > 0
    assert filecopy.tree(asked({"files": "all"})) == 1_000_000


def test_copies_that_would_fill_the_disk_ask_for_a_larger_one() -> None:
    assert filecopy.disk(asked({"concurrency": "8"})) == 0
    assert filecopy.disk(asked({"files": "all"})) == 0
    whole = filecopy.disk(asked({"files": "all", "concurrency": "8"}))
    assert whole == filecopy.disk(asked({"files": "1000000", "concurrency": "8"}))
    assert 11 < whole < 16


def test_wall_is_copying_and_removing_together() -> None:
    found = filecopy.read_metrics(asked(TWO), typed(answers()), INSN)
    assert {one.metric: one.samples for one in found} == {
        "copy": (1000,),
        "remove": (200,),
        "wall": (1200,),
        "user": (4000,),
        "system": (6000,),
    }
    assert {one.unit for one in found} == {INSN.whole}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (answers("d\nd\nx\n"), "not equal to its source: copy_2"),
        (answers("x\nd\nd\n"), "not equal to its source: copy_1, copy_2"),
        (answers("d\nd\n"), "1 of 2 copies were compared"),
        (answers(status=123, stderr="cp: error writing 'a': No space left on device"), "No space"),
        (answers()[:2], "comparing.*did not run|removing.*did not run"),
    ],
)
def test_a_copy_that_failed_or_differs_is_never_a_number(
    given: list[dict[str, Any]], message: str
) -> None:
    with pytest.raises(TrialError, match=message):
        filecopy.read_metrics(asked(TWO), typed(given), INSN)


@pytest.mark.parametrize(
    "parameters", [{"concurrency": "0"}, {"concurrency": "65"}, {"files": "0"}, {"files": "most"}]
)
def test_a_value_that_cannot_be_is_an_error(parameters: dict[str, str]) -> None:
    with pytest.raises(InputError):
        asked(parameters)
