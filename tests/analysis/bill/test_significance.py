"""A bill of several trials splits what it can distinguish from 0, and adds up."""

from __future__ import annotations

import math

from hardcost.analysis.bill.significance import drop_indistinguishable
from hardcost.model.finding.bill import Item, Itemised, Sum, Total
from hardcost.model.role import Whole, role_of
from hardcost.model.workload import MetricId, workload_of
from hardcost.store.record import Record
from hardcost.workloads.metric import MetricSamples


def records(instrument: str, costs: tuple[float, ...]) -> list[Record]:
    """Return trials of baseline and profile, which is dearer by one of `costs` in each."""
    return [
        Record(
            identity=f"{configuration} {repetition}",
            role=role_of(configuration),
            workload=workload_of("syscalls"),
            instrument=instrument,
            seed=0,
            repetition=repetition,
            measured=(MetricSamples(metric="null", unit="ns/op", samples=(100 + own,) * 9),),
            environment={},
            start_seconds=0,
            host_seconds=0,
        )
        for repetition, cost in enumerate(costs)
        for configuration, own in (("baseline", 0.0), ("profile", cost))
    ]


def bill(cost: float, item: float, spread: float = 0.0) -> Itemised:
    return Itemised(
        profile="p",
        profile_title="p",
        totals=(Total(MetricId("null"), "ns/op", 100, 100 + cost, cost),),
        items=(
            Item("x", MetricId("null"), "ns/op", item, item - spread, item + spread, 0, 0, None),
        ),
        rest=(Sum(MetricId("null"), 0.0),),
        interaction=(Sum(MetricId("null"), cost - item),),
    )


def sums(made: Itemised) -> tuple[float, float, float]:
    """Return items, rest and interaction, having checked that they add up."""
    items = math.fsum(item.cost for item in made.items)
    rest, interaction = made.rest[0].cost, made.interaction[0].cost
    assert items + rest + interaction == made.totals[0].cost
    return items, rest, interaction


def test_a_total_that_may_be_nothing_is_not_split() -> None:
    noise = records("time", (-40.0, 30.0, -20.0, 50.0, 0.0))
    made = drop_indistinguishable(bill(4.0, -10.0), noise)
    assert made.totals[0].may_be_nothing
    assert sums(made) == (0, 4, 0)


def test_a_clear_total_keeps_its_items_and_a_clear_interaction() -> None:
    steady = records("time", (100.0, 101.0, 99.0, 100.0, 100.0))
    made = drop_indistinguishable(bill(100.0, 60.0), steady)
    assert not made.totals[0].may_be_nothing
    assert sums(made) == (60, 0, 40)


def test_an_interaction_that_the_intervals_could_make_up_is_rest() -> None:
    steady = records("time", (100.0, 101.0, 99.0, 100.0, 100.0))
    made = drop_indistinguishable(bill(100.0, 90.0, spread=15.0), steady)
    assert sums(made) == (90, 10, 0)


def test_an_exact_bill_of_single_trials_stays_as_it_is() -> None:
    exact = bill(4.0, -10.0)
    assert drop_indistinguishable(exact, records("insn", (4.0,))) == exact
    assert not exact.totals[0].may_be_nothing


def test_an_exact_bill_of_several_perturbations_has_intervals() -> None:
    made = drop_indistinguishable(
        bill(4.0, -10.0), records("insn", (-40.0, 30.0, -20.0, 50.0, 0.0))
    )
    assert made.totals[0].may_be_nothing
    assert sums(made) == (0, 4, 0)


def test_a_program_that_varies_within_its_one_trial_may_cost_nothing() -> None:
    costs = (-40.0, 30.0, -20.0, 50.0, 60.0)
    trials = [
        record.model_copy(
            update={
                "measured": (
                    MetricSamples(
                        metric="null",
                        unit="ns/op",
                        samples=tuple(100 + own * (record.role == Whole()) for own in costs),
                    ),
                )
            }
        )
        for record in records("insn", (0.0,))
    ]
    made = drop_indistinguishable(bill(30.0, 30.0), trials)
    assert made.totals[0].may_be_nothing
    assert not made.items
