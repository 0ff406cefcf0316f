"""Rounds are added until intervals are narrow enough, and disturbed blocks are measured again."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest

from hardcost.analysis.estimates.estimates import cells
from hardcost.controls.configuration import Configuration
from hardcost.measure.asking import answer_questions
from hardcost.measure.precision import (
    FEWEST_ROUNDS,
    Aim,
    Settled,
    settle_rounds,
    widest_interval,
)
from hardcost.model.role import Named
from hardcost.model.workload import Workload
from hardcost.plan.plan import Plan, Trial
from hardcost.store.record import Record
from hardcost.workloads.metric import MetricSamples

CALLS = Workload("syscalls", (("calls", "null"),))
NAMES = ("a", "b")


def planned(rounds: int) -> Plan:
    every = [(n, Configuration(Named(name))) for n in range(rounds) for name in NAMES]
    trials = tuple(Trial(one, CALLS, "time", 0, n) for n, one in every)
    return Plan("s", "s", "time", Named("a"), trials)


def calm(_: Trial) -> dict[str, float]:
    return {}


def measured(plan: Plan, seen: Callable[[Trial], dict[str, float]] = calm) -> tuple[Record, ...]:
    """Return trials whose times vary by some 5 %, each trial's its own whenever it is measured."""
    found = []
    for trial in plan.trials:
        number = 2 * trial.repetition + NAMES.index(trial.configuration.name)
        value = float(np.random.default_rng(number).normal(100, 5))
        found.append(
            Record(
                identity=str(number),
                role=trial.configuration.role,
                workload=trial.workload,
                instrument="time",
                seed=0,
                repetition=trial.repetition,
                measured=(MetricSamples(metric="null", unit="ns/op", samples=(value,) * 3),),
                environment={},
                start_seconds=0,
                host_seconds=1,
                surroundings=seen(trial),
            )
        )
    return tuple(found)


def settle(precision: float, seconds: float = 1000, first: int = FEWEST_ROUNDS) -> Settled:
    aim = Aim(precision, seconds, time.monotonic() - 1)
    return answer_questions(settle_rounds(measured(planned(first)), first, planned, aim), measured)


@pytest.mark.parametrize("precision", [0.05, 0.01, 0.005])
def test_rounds_are_added_until_the_interval_is_as_narrow_as_asked(precision: float) -> None:
    done = settle(precision)
    assert widest_interval(cells(done.plan, done.records)) <= precision
    assert "every interval is within" in done.notes[-1]


def test_the_narrower_the_more_rounds_and_always_whole_blocks() -> None:
    counts = [len(settle(one).plan.trials) // 2 for one in (0.05, 0.01, 0.005)]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]
    assert all(count % 2 == 0 for count in counts)


def test_few_rounds_are_never_taken_for_precise_and_end_when_time_is_up() -> None:
    assert len(settle(0.9, first=4).plan.trials) // 2 == FEWEST_ROUNDS
    done = settle(0.9, seconds=1, first=4)
    assert len(done.plan.trials) // 2 == 4
    assert "time was up after 4 rounds" in done.notes[-1]


def test_when_time_is_up_it_says_how_wide_the_widest_interval_is() -> None:
    done = settle(0.001, seconds=1)
    assert len(done.plan.trials) // 2 == FEWEST_ROUNDS
    assert "time was up" in done.notes[-1]
    assert "+/-0.1 % was asked for" in done.notes[-1]


def test_a_disturbed_block_is_measured_again_once_and_never_counts() -> None:
    def seen(trial: Trial) -> dict[str, float]:
        return {"throttles": 1.0} if trial.repetition in {3, 17} else {}

    records = measured(planned(16), seen)
    done = answer_questions(settle_rounds(records, 16, planned), lambda plan: measured(plan, seen))
    assert len(done.plan.trials) // 2 == 18
    assert {one.repetition for one in done.records} == {*range(16)} - {2, 3}
    assert "2 of 9 blocks" in done.notes[0]


def test_calm_trials_are_left_as_they_are() -> None:
    done = answer_questions(settle_rounds(measured(planned(5)), 5, planned), measured)
    assert (len(done.records), done.notes) == (10, ())


def test_a_precision_that_nothing_reaches_ends_all_the_same() -> None:
    done = settle(1e-320)
    assert len(done.plan.trials) // 2 == 1000
    assert "no more rounds are measured after 1,000 rounds" in done.notes[-1]
