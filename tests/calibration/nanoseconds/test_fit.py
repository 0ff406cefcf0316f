"""Fitting in nanoseconds, on levels that the model itself yields: what went in has to come out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from auditrules.cost.constants import Constants, ConstantsError
from auditrules.cost.measurement import TimePrices
from auditrules.kernel import semantics
from hardcost.calibration import check
from hardcost.calibration.nanoseconds import prices, validation
from hardcost.calibration.nanoseconds.rounds import Timed, TimedLevel, TimedSetRequest
from hardcost.calibration.nanoseconds.rule_sets import COPIES, LENGTHS, timed_sets
from hardcost.calibration.nanoseconds.validation import HeldOut

WITHOUT = 150.0
DEBIAN = Constants.of_debian()
CROWDING = {COPIES: 0.0} | {length: 4.0 * max(length - 64, 0) for length in LENGTHS if length > 16}
NOT_SEEN = {"ppid", "watched-execve", "outranked", "bucket"}
TRUE = replace(
    DEBIAN,
    about={"unit": "ns"},
    crowding=CROWDING,
    walk={**DEBIAN.walk, "ppid": 0.0, "watched-execve": 0.0},
    permission={
        **DEBIAN.permission,
        **dict.fromkeys(("execve", "execveat", "socketcall"), 4.0),
    },
)
NEAR = 3.0
SETS = validation.held_out()


def level(asked: TimedSetRequest) -> dict[str, float]:
    loaded = semantics.load(validation.rules_of_lines(asked.rules.rules))
    return {
        name: WITHOUT + check.predict_typical(TRUE, loaded, name) for name in asked.rules.processes
    }


@pytest.fixture(scope="module")
def rounds() -> tuple[TimedLevel, ...]:
    one = {asked.rules.name: level(asked) for asked in prices.sets_to_time(SETS)}
    return (one,) * 8


@pytest.fixture(scope="module")
def found(rounds: tuple[TimedLevel, ...]) -> TimePrices:
    return prices.prices_of_rounds(Timed(rounds, 8, 0), SETS, {"machine": "one"})


@pytest.mark.parametrize("table", ["field", "operator"])
def test_what_a_condition_takes_comes_out_of_many_copies_of_a_rule(
    found: TimePrices, table: str
) -> None:
    wanted = getattr(TRUE, table)
    got = getattr(found.constants, table)
    seen = set(wanted) - {"path", "own-inode", "ppid"}
    assert {name: got[name] for name in seen} == pytest.approx(
        {name: wanted[name] for name in seen}, abs=NEAR
    )


def test_the_steps_of_the_walk_come_out(found: TimePrices) -> None:
    seen = set(TRUE.walk) - NOT_SEEN
    got = {name: found.constants.walk[name] for name in seen}
    assert got == pytest.approx({name: TRUE.walk[name] for name in seen}, abs=NEAR)


def test_what_a_long_list_takes_beyond_its_rules_comes_out(
    found: TimePrices,
) -> None:
    assert dict(found.constants.crowding) == pytest.approx(CROWDING, abs=NEAR)


def test_sets_that_were_held_out_are_predicted(found: TimePrices) -> None:
    assert {row.set for row in found.checked} == {f"{size} rules" for size in validation.SIZES}
    assert found.median_off < 0.01
    assert not {one.set_name for one in SETS} & {one.name for one in timed_sets()}


def test_what_noise_hides_is_estimated_and_what_it_does_not_is_kept(
    rounds: tuple[TimedLevel, ...],
) -> None:
    noisy = tuple(
        {
            name: {
                operation: value + (30_000.0 * (-1) ** number if operation == "mkdir" else 0.0)
                for operation, value in row.items()
            }
            if name == "unnamed"
            else row
            for name, row in one.items()
        }
        for number, one in enumerate(rounds)
    )
    found = prices.prices_of_rounds(Timed(noisy, 8, 0), SETS, {})
    assert "mkdir" not in found.constants.base
    assert "rename" in found.constants.base
    low, high = found.intervals["base"]["mkdir"]
    assert high - low > 10_000


def test_prices_are_read_as_they_were_written(found: TimePrices) -> None:
    constants, rest = prices.prices_to_text(found)
    again = prices.prices_from_text(constants, rest)
    assert again.checked == found.checked
    assert again.constants.timed
    assert dict(again.constants.crowding) == pytest.approx(dict(found.constants.crowding))
    with pytest.raises(ConstantsError, match="crowding"):
        Constants.from_toml(constants.replace('"200" =', '"x" ='))


def test_a_rule_beyond_the_first_cache_costs_more_than_one_within_it() -> None:
    def cost(rules: int) -> float:
        lines = [
            f"-a always,exit -F arch=b64 -S swapoff -F uid={70_000 + at}" for at in range(rules)
        ]
        held = HeldOut("", validation.rules_of_lines(lines))
        return check.predict_typical(TRUE, semantics.load(held.rules), "null")

    assert cost(41) - cost(40) == pytest.approx(TRUE.walk["unnamed"])
    assert cost(101) - cost(100) == pytest.approx(TRUE.walk["unnamed"] + 4.0)
    assert cost(301) - cost(300) == pytest.approx(TRUE.walk["unnamed"] + 4.0)
