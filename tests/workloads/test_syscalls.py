"""The workload `syscalls`: what is asked of the probe, and what its answers have to be."""

from __future__ import annotations

from typing import Any

import pytest

from hardcost.errors import InputError, TrialError
from hardcost.instruments.names import INSTRUMENTS
from hardcost.workloads import syscalls
from tests.protocol.json_messages import as_sent, typed

asked = syscalls.KIND.read_parameters

INSN, TIME = INSTRUMENTS["insn"], INSTRUMENTS["time"]
CLOCK = {"event": "clock", "overhead": [5, 3, 4]}


def call(name: str = "null", **other: object) -> dict[str, Any]:
    facts = {"samples": [103] * 25, "audit": None, "uid": 1000, "loginuid": None}
    return {"event": "call", "name": name, **facts, **other}


def test_every_call_has_numbers_for_every_instrument() -> None:
    for one in syscalls.calls().values():
        for instrument in INSTRUMENTS.values():
            assert one.batch_under(instrument) >= 1
            assert one.samples_under(instrument) >= 9
            assert one.samples_under(instrument) % 2 == 1  # so that the median is a sample
        assert one.what


def test_the_calls_asked_for_are_those_chosen_in_their_order() -> None:
    (request,) = as_sent(syscalls.requests(asked({"calls": "open+null"}), INSN))
    assert [row["name"] for row in request["calls"]] == ["open", "null"]
    (request,) = as_sent(syscalls.requests(asked({}), INSN))
    assert [row["name"] for row in request["calls"]] == list(syscalls.calls())


def test_what_moves_is_measured_under_each_perturbation_and_the_rest_once() -> None:
    parameters = asked({"calls": "fork+null+exec"})
    first, *others = as_sent(syscalls.requests(parameters, INSN, (1, 2)))
    assert [row["name"] for row in first["calls"]] == ["null"]
    assert [one["number"] for one in others[::2]] == [1, 2]
    for one in others[1::2]:
        assert [row["name"] for row in one["calls"]] == ["fork", "exec"]
    answers: list[dict[str, Any]] = [CLOCK, call()]
    for number in (1, 2):
        samples = [103 + number] * syscalls.PERTURBED_SAMPLES
        answers += [{"event": "perturbed", "number": number}, CLOCK]
        answers += [call(name, samples=samples) for name in ("fork", "exec")]
    fork, null, execute = syscalls.read_metrics(parameters, typed(answers), INSN)
    assert (null.metric, null.samples, null.perturbed) == ("null", (100,) * 25, {})
    for moving in (fork, execute):
        assert moving.samples == (101,) * syscalls.PERTURBED_SAMPLES
        assert moving.perturbed == {2: (102,) * syscalls.PERTURBED_SAMPLES}


def test_without_what_moves_nothing_is_perturbed() -> None:
    parameters = asked({"calls": "null+open"})
    assert not syscalls.moves(parameters)
    assert len(syscalls.requests(parameters, INSN)) == 1


@pytest.mark.parametrize("calls", ["nul", "", "null+", "null open"])
def test_a_call_that_does_not_exist_is_an_error_with_a_remedy(calls: str) -> None:
    with pytest.raises(InputError, match="can't take") as error:
        asked({"calls": calls})
    assert error.value.problems[0].hint


def test_a_sample_is_a_window_less_the_emptiest_over_its_operations() -> None:
    many = call(
        samples=[2563] * 99, batch=256, audit={"by_key": {"k": 2}, "lost": 1}, loginuid=1000
    )
    (found,) = syscalls.read_metrics(asked({"calls": "null"}), typed([CLOCK, many]), TIME)
    assert found.samples == (10.0,) * 99  # 2560 over a batch of 256
    assert (found.unit, found.fired, found.lost) == ("ns/op", {"k": 2}, 1)
    longer = call(samples=[5123] * 99, batch=512, uid=1001)  # a machine with a slow clock
    (found,) = syscalls.read_metrics(asked({"calls": "null"}), typed([CLOCK, longer]), TIME)
    assert found.samples == (10.0,) * 99
    switch = call("context-switch")
    (found,) = syscalls.read_metrics(
        asked({"calls": "context-switch"}), typed([CLOCK, switch]), INSN
    )
    assert found.samples == (50.0,) * 25  # two switches in a round trip


@pytest.mark.parametrize(
    "who", [{"uid": 0}, {"audit": {"by_key": {}, "lost": 0}, "loginuid": None}]
)
def test_what_ran_as_another_user_is_no_measurement(who: dict[str, Any]) -> None:
    with pytest.raises(TrialError, match="not as 1000"):
        syscalls.read_metrics(asked({"calls": "null"}), typed([CLOCK, call(**who)]), INSN)


@pytest.mark.parametrize(
    "answers",
    [
        [],
        [CLOCK],
        [call()],
        [CLOCK, call("open")],
        [CLOCK, call(samples=[])],
        [CLOCK, call(samples=[103] * 24)],
        [CLOCK, call(samples=[103.5] * 25)],
        [CLOCK, call(samples=["103"] * 25)],
    ],
)
def test_missing_or_odd_answers_are_never_a_number(answers: list[dict[str, Any]]) -> None:
    with pytest.raises(TrialError):
        syscalls.read_metrics(asked({"calls": "null"}), typed(answers), INSN)


@pytest.mark.parametrize("batch", [0, 1, 255, 257])
def test_another_number_of_operations_than_was_asked_for_is_no_measurement(batch: int) -> None:
    odd = call(samples=[2563] * 99, batch=batch)
    with pytest.raises(TrialError, match=f"measured null {batch} at a time"):
        syscalls.read_metrics(asked({"calls": "null"}), typed([CLOCK, odd]), TIME)


def test_copies_are_asked_for_and_left_out_where_there_is_one() -> None:
    (alone,) = as_sent(syscalls.requests(asked({"calls": "null", "copies": "1"}), TIME))
    assert "copies" not in alone
    (two,) = as_sent(syscalls.requests(asked({"calls": "null", "copies": "2"}), TIME))
    assert two == {**alone, "copies": 2}


@pytest.mark.parametrize("copies", ["0", "-1", "1025", "two", "1.5"])
def test_copies_are_a_number_of_processors(copies: str) -> None:
    with pytest.raises(InputError, match=r"can't take .* for copies"):
        asked({"copies": copies})


def test_copies_are_refused_where_one_emulated_processor_counts() -> None:
    parameters = asked({"copies": "2"})
    parameters.check(TIME)
    asked({"copies": "1"}).check(INSN)
    with pytest.raises(InputError, match="copies=2 is not for the instrument insn: it counts on"):
        parameters.check(INSN)


@pytest.mark.parametrize("companions", [{}, {"0": 5, "1": 6}])
def test_another_number_of_copies_than_asked_for_is_no_measurement(
    companions: dict[str, int],
) -> None:
    parameters = asked({"calls": "null", "copies": "2"})
    found = call(samples=[2563] * 99, batch=256, companions=companions)
    with pytest.raises(TrialError, match=f"ran {len(companions)} copies beside null instead of 1"):
        syscalls.read_metrics(parameters, typed([CLOCK, found]), TIME)
    right = {**found, "companions": {"0": 5}}
    assert syscalls.read_metrics(parameters, typed([CLOCK, right]), TIME)


def test_what_was_counted_is_for_an_operation_and_none_if_others_had_the_counters() -> None:
    counts = {"cycles": 4000, "instructions:k": 6000}
    seen = {"windows": 2, "counts": counts, "enabled": 9, "running": 9}
    switch = call("context-switch", batch=5, counters=seen)  # two switches in a round trip
    shared = call("open", batch=5, counters={**seen, "running": 3})
    never = call("read", batch=5, counters={**seen, "enabled": 0, "running": 0})
    unknown = call("sheep", batch=5, counters=seen)
    (found,) = syscalls.observe_counters(typed([switch, shared, never, unknown, call("null")]))
    assert (found.instrument, found.unit_of_totals) == ("counters", "count/op")
    assert found.totals == {
        "context-switch cycles": 200.0,
        "context-switch instructions:k": 300.0,
        "open shared": 3 / 9,
        "read shared": 0.0,
    }
    assert syscalls.observe_counters(typed([call("null")])) == ()
