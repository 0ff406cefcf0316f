"""A trial is executed once, where it may idle until two agree; now and then one is checked."""

import asyncio
from collections.abc import Iterator, Sequence

import pytest

from hardcost.errors import TrialError
from hardcost.machines.machine import Execution
from hardcost.machines.vm.repeat import SpotChecks, may_idle, repeat_until_equal, with_and_without
from hardcost.protocol.answers import CallAnswer, only
from hardcost.protocol.requests import Command, MeasureCalls
from tests.protocol.json_messages import typed


def executions(samples: Sequence[Sequence[int]]) -> Iterator[Execution]:
    """Give what each execution of a trial answers, one after another."""
    for some in samples:
        answer = {"event": "call", "name": "null", "samples": list(some)}
        yield Execution(tuple(typed([answer])), "", start_seconds=0.1, host_seconds=1.0)


def settle(counts: Sequence[int]) -> tuple[int, float]:
    """Return the count that is agreed on where executions give `counts`, and the host's seconds."""
    coming = executions([[count] for count in counts])

    async def once() -> Execution:
        return next(coming)

    found = asyncio.run(repeat_until_equal(once))
    return only(found.answers, CallAnswer).samples[0], found.host_seconds


def test_two_executions_that_agree_are_enough() -> None:
    assert settle([502, 502, 999]) == (502, 2.0)


def test_one_that_differs_is_outvoted() -> None:
    assert settle([510, 502, 502, 999]) == (502, 3.0)
    assert settle([502, 510, 502, 999]) == (502, 3.0)


def test_where_none_agree_there_is_no_number() -> None:
    with pytest.raises(TrialError, match="all gave other counts"):
        settle(range(100))


def checked(samples: Sequence[Sequence[int]], trials: int) -> list[float]:
    """Return the host's seconds of so many trials whose executions give `samples`, in turn."""
    coming = executions(samples)
    checks = SpotChecks()

    async def once() -> Execution:
        return next(coming)

    async def each() -> list[float]:
        return [(await checks.execute(once)).host_seconds for _ in range(trials)]

    return asyncio.run(each())


def test_the_first_trial_and_each_sixteenth_is_executed_again() -> None:
    assert checked([[502]] * 19, trials=17) == [2.0] + [1.0] * 15 + [2.0]


@pytest.mark.parametrize(
    ("again", "said"),
    [
        ([502, 510], "sample 2 of null is 502 and 510"),
        ([502], "null has 2 and 1 samples"),
    ],
)
def test_a_difference_fails_loudly(again: list[int], said: str) -> None:
    with pytest.raises(TrialError, match=said):
        checked([[502, 502], again], trials=1)


def test_a_program_of_the_users_may_sleep() -> None:
    calls = MeasureCalls(clock="tsc", calls=())
    command = Command(clock="tsc", argv=("/bin/sleep", "1"), runs=1, enough=1)
    assert not may_idle([calls])
    assert may_idle([calls, command])


def watched(plain: Sequence[int], with_profiler: Sequence[int], *, idles: bool) -> int:
    """Return the count where executions give these without the plugin, and those with it."""
    without, seen = (
        executions([[one] for one in plain]),
        executions([[one] for one in with_profiler]),
    )

    async def once() -> Execution:
        return next(without)

    async def watch() -> Execution:
        return next(seen)

    found = asyncio.run(with_and_without(once, watch, idles=idles))
    return only(found.answers, CallAnswer).samples[0]


def test_a_profiler_that_changes_a_sample_fails_the_trial() -> None:
    assert watched([502], [502], idles=False) == 502
    with pytest.raises(
        TrialError, match="changed what it watched: sample 1 of null is 502 and 503"
    ):
        watched([502], [503, 502], idles=False)


def test_where_a_guest_may_idle_the_profiler_has_several_tries() -> None:
    assert watched([502, 510, 502], [510, 502], idles=True) == 502
    with pytest.raises(TrialError, match="changed what it watched"):
        watched([502, 502], [503] * 6, idles=True)
