"""What workloads of a Debian guest share: who runs programs, and how a failed one is reported."""

from __future__ import annotations

from typing import Any

import pytest

from hardcost.errors import TrialError
from hardcost.instruments.names import INSTRUMENTS
from hardcost.protocol.answers import RanAnswer, only
from hardcost.protocol.requests import USER
from hardcost.workloads import programs
from tests.protocol.json_messages import typed
from tests.workloads.run_answers import ran


def test_a_program_runs_as_somebody_who_has_logged_in() -> None:
    request = programs.as_user("x", ["true"])
    assert (request.user, request.login, request.folder) == ("user", USER, "/home/user")
    assert request.context == programs.CONTEXT
    assert request.expect is None


def test_a_program_is_measured_where_there_is_an_instrument() -> None:
    assert programs.as_user("x", ["true"]).clock is None
    for instrument in INSTRUMENTS.values():
        assert programs.as_user("x", ["true"], instrument).clock == instrument.clock


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ([], "copying: the guest did not run it"),
        ([ran("other")], "copying: the guest did not run it"),
        (
            [ran("x", status=1, stderr="cp: no space\n")],
            "copying ended with status 1: cp: no space",
        ),
        ([ran("x", "said", status=1)], "status 1: said"),
        ([ran("x", status=None, signal=9)], "copying ended with signal 9"),
    ],
)
def test_a_program_that_failed_is_reported_with_its_words(
    answers: list[dict[str, object]], message: str
) -> None:
    with pytest.raises(TrialError, match=message):
        programs.successful_answer(typed(answers), "x", "copying")


def program(**other: Any) -> RanAnswer:  # noqa: ANN401  (a field)
    return only(typed([ran("x", **other)]), RanAnswer)


def test_a_program_that_was_not_measured_has_no_cost() -> None:
    assert programs.ticks(program(ticks=7)) == 7
    with pytest.raises(TrialError, match="did not measure 'x'"):
        programs.ticks(program(ticks=None))


def test_a_metrics_events_are_those_of_all_its_programs() -> None:
    audits = [
        {"by_key": {"a": 1, "b": 2}, "lost": 1},
        {"by_key": {"b": 3}, "lost": 0},
    ]
    found = programs.metric("m", "insn", 5, [program(audit=audit) for audit in audits])
    assert (found.samples, found.fired, found.lost) == ((5,), {"a": 1, "b": 5}, 1)
    assert programs.metric("m", "insn", 5, [program()]).fired is None


def test_chosen_names_come_in_the_known_order() -> None:
    assert programs.in_order(("c", "a"), {"a": 1, "b": 2, "c": 3}) == ("a", "c")


def test_a_disk_is_wanted_for_what_the_usual_one_cannot_hold() -> None:
    assert programs.disk(2 << 30) == 0
    assert programs.disk((2 << 30) + 1) == 4
