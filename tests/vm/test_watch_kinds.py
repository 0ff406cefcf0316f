"""Watches of unknown kind on a kernel: the optimised set records the same whatever they watch."""

from __future__ import annotations

import random
from functools import cache

import pytest

from conformance import watches
from conformance.violations import SCENARIOS, Scenario, proof, recorded
from conformance.watches import Pair
from hardcost.machines.vm.argv import Hardware
from hardcost.machines.vm.machine import VirtualMachine
from hardcost.supply.cache.cache import Cache

pytestmark = [pytest.mark.vm, pytest.mark.slow]

PAIRS = 12


@cache
def machine() -> VirtualMachine:
    return VirtualMachine(Cache(), Hardware("tcg"))


@cache
def drawn(*, guessed: bool) -> tuple[Pair, ...]:
    target = watches.FILES if guessed else watches.TARGET
    chance = random.Random(2)  # noqa: S311  (no secret)
    battery = watches.learned(machine())
    pairs: list[Pair] = []
    number = 0
    while len(pairs) < PAIRS:
        pair = watches.draw(chance, battery, number, target=target)
        number += 1
        if pair is not None:
            pairs.append(pair)
    return tuple(pairs)


@pytest.mark.usefixtures("read_for")
@pytest.mark.parametrize("world", watches.WORLDS)
def test_an_optimised_set_records_the_same_and_loads(world: str) -> None:
    found = watches.compare(machine(), drawn(guessed=False), world)
    assert [one for one in found if not one.same] == []
    assert sum(one.recorded for one in found) > 50


def test_a_guess_would_be_seen() -> None:
    """Optimised as if each watched path were a file, and loaded where they are directories."""
    found = watches.compare(machine(), drawn(guessed=True), "directory")
    assert [one for one in found if one.differ]
    assert all("kinds" in one.pair.assumed for one in found if one.differ)


@pytest.mark.parametrize("one", SCENARIOS, ids=lambda one: one.code)
def test_an_assumption_that_is_violated_makes_a_difference_and_is_listed(one: Scenario) -> None:
    result = proof(one)
    assert result.equal
    assert one.code in {assumption.code for assumption in result.assumptions}
    a, b = recorded(machine(), one)
    assert a != b
