"""The functions' differences add up to the cost, whichever samples it is the median of."""

import pytest

from hardcost.analysis.calls.hotspots import hotspots_of
from hardcost.errors import TrialError
from hardcost.model.call_tree import IDLE_PROCESS, CallTree, Frame, Sampled, sum_counts
from hardcost.model.finding.calls import Hotspots
from hardcost.model.role import role_of
from hardcost.model.workload import workload_of
from hardcost.store.record import Record
from hardcost.workloads.metric import MetricSamples

FRAMES = (
    Frame(0, "process", "p"),
    Frame(1, "kernel", "f"),
    Frame(2, "kernel", "g"),
    Frame(3, "kernel", "f"),
    Frame(1, "kernel", "h"),
)
ROLES = (role_of("without"), role_of("with"))
EMPTY = 3  # ticks of a window with nothing in it


def record(name: str, windows: list[dict[int, int]], seed: int = 0, operations: int = 1) -> Record:
    ticks = tuple(sum(window.values()) for window in windows)
    seen = Sampled(
        metric="m",
        operations=operations,
        ticks=ticks,
        samples=tuple(range(len(windows))),
        windows=tuple(windows),
    )
    samples = tuple((one - EMPTY) / operations for one in ticks)
    return Record(
        identity=name,
        role=role_of(name),
        workload=workload_of("w"),
        instrument="insn",
        seed=seed,
        repetition=0,
        measured=(MetricSamples(metric="m", unit="insn/op", samples=samples),),
        environment={},
        start_seconds=0,
        host_seconds=0,
        calls=CallTree(frames=FRAMES, metrics=(seen,)),
    )


def found(*records: Record) -> Hotspots:
    (one,) = hotspots_of(records, *ROLES)
    assert sum(function.own for function in one.functions) == one.cost
    assert sum(stack.after - stack.before for stack in one.stacks) == one.cost
    return one


def test_the_pair_that_is_the_median_is_shown() -> None:
    before = record("without", [{2: 10}, {2: 10}, {2: 10}])
    after = record("with", [{2: 90}, {2: 10, 3: 5}, {2: 10, 5: 1}])
    one = found(before, after)
    assert one.cost == 5
    assert [(each.function, each.own) for each in one.functions if each.own] == [("g", 5)]
    assert one.functions[0].total == 5


def test_of_two_around_the_median_the_mean_is_shown() -> None:
    before = record("without", [{2: 10}] * 4)
    after = record("with", [{2: 90}, {2: 10, 3: 6}, {2: 10, 5: 2}, {2: 10}])
    one = found(before, after)
    assert one.cost == 4
    assert {each.function: each.own for each in one.functions if each.own} == {"g": 3, "h": 1}


def test_several_trials_count_alike() -> None:
    before = [record("without", [{2: 10}], seed) for seed in (1, 2)]
    after = [record("with", [{2: 10 + 8 * seed}], seed) for seed in (1, 2)]
    assert found(*before, *after).cost == 12


def test_of_draws_the_middle_half_counts() -> None:
    before, after = (
        record("without", [{2: 10}] * 4),
        record("with", [{2: 10}, {3: 14}, {5: 12}, {2: 99}]),
    )
    draws = [_drawn(one) for one in (before, after)]
    one = found(*draws)
    assert one.cost == 3
    assert {each.function: each.own for each in one.functions if each.own} == {
        "f": -10,
        "g": 7,
        "h": 6,
    }


def _drawn(one: Record) -> Record:
    """Return a record whose only trial has a second draw, the same as the first."""
    (metric,), whole = one.measured, one.calls
    assert whole is not None
    again = whole.metrics[0].model_copy(update={"number": 2})
    return one.model_copy(
        update={
            "measured": (metric.model_copy(update={"perturbed": {2: metric.samples}}),),
            "calls": whole.model_copy(update={"metrics": (*whole.metrics, again)}),
        }
    )


def test_several_operations_share_a_window() -> None:
    one = found(record("without", [{2: 10}], operations=2), record("with", [{2: 15}], operations=2))
    assert one.cost == 2.5


def test_a_recursion_counts_once_in_a_total() -> None:
    one = found(record("without", [{2: 1}]), record("with", [{2: 2, 3: 4, 4: 8}]))
    by_name = {each.function: each for each in one.functions}
    assert (by_name["f"].own, by_name["f"].total) == (9, 13)
    assert (by_name["g"].own, by_name["g"].total) == (4, 12)


def test_what_was_not_profiled_has_no_profile() -> None:
    whole = record("without", [{2: 1}])
    with pytest.raises(TrialError, match="was not counted by function"):
        hotspots_of(
            [whole, record("with", [{2: 2}]).model_copy(update={"calls": None})],
            *ROLES,
        )


def test_several_processors_add_up_without_what_they_do_while_idle() -> None:
    idle = len(FRAMES) + 1
    frames = (*FRAMES, Frame(0, "process", IDLE_PROCESS))
    sides = ([{2: 10, idle: 50}, {3: 4, idle: 30}], [{2: 11, idle: 20}, {3: 9, 5: 1, idle: 60}])
    records = []
    for role, processors in zip(("without", "with"), sides, strict=True):
        window = sum_counts(processors)
        counted = record(role, [window])
        seen = Sampled(
            metric="m",
            operations=1,
            ticks=(sum(window.values()),),
            samples=(0,),
            windows=(window,),
            processors=(tuple(processors),),
        )
        measured = MetricSamples(metric="m", unit="parallel insn", samples=(77,))
        tree = CallTree(frames=frames, metrics=(seen,))
        records.append(counted.model_copy(update={"calls": tree, "measured": (measured,)}))
    one = found(*records)
    assert (one.value, one.cost, one.unit) == (14, 7, "insn")
    assert {process.name for process in one.processes} == {"p"}
    first, second = one.processors
    assert (first.number, first.busy_before, first.busy_after) == (1, 10, 11)
    assert (second.idle_before, second.idle_after) == (30, 60)
    assert [(each.function, each.own) for each in second.functions] == [("g", 5), ("h", 1)]
