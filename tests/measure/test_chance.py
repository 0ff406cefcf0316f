"""One state measured as if it were two: its own difference is not distinguishable from 0."""

from __future__ import annotations

import asyncio

from hardcost.analysis.estimates.bootstrap import FEWEST_BLOCKS
from hardcost.measure.chance import CALLS, Resolution, resolutions
from tests.fakes import guest
from tests.fakes.machine import FakeMachine


def test_a_machine_that_repeats_exactly_tells_any_difference() -> None:
    left: list[float] = []
    machine = FakeMachine(guest.answers, guest.account)
    found = asyncio.run(resolutions(machine, 0, left.append))
    assert [one.call for one in found] == list(CALLS)
    assert [(one.blocks, one.unit, one.is_fair) for one in found] == [
        (FEWEST_BLOCKS, "ns/op", True)
    ] * len(CALLS)
    assert all(one.value > 0 for one in found)
    assert left == [0.0] * FEWEST_BLOCKS


def test_the_smallest_difference_is_half_of_the_interval_and_an_odd_one_is_noticed() -> None:
    one = Resolution("null", "ns/op", 100.0, -1.0, 3.0, 8)
    assert (one.smallest, one.is_fair) == (2.0, True)
    assert not Resolution("null", "ns/op", 100.0, 1.0, 3.0, 8).is_fair
