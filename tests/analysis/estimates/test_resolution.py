"""The least cost that is distinguishable from chance: false alarms stay below what they may be."""

from __future__ import annotations

import math
import random

import pytest

from hardcost.analysis.bill.budget import Budget, is_within_budget
from hardcost.analysis.bill.itemise import itemise
from hardcost.analysis.change.comparison import compare_cells
from hardcost.analysis.estimates.estimates import by_metric, cells
from hardcost.analysis.estimates.resolution import (
    FALSE_ALARMS,
    allowing_for_chance,
    interaction_bound,
    placebo_bound,
    smallest_distinguishable,
)
from hardcost.controls.configuration import Configuration
from hardcost.controls.control import Profile
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.model.finding.bill import Total
from hardcost.model.finding.cell import Cell
from hardcost.model.role import role_of
from hardcost.model.workload import MetricId, Workload, workload_of
from hardcost.plan.plan import Plan, Trial
from hardcost.show.sentences.single_draws import ABOUT_ZERO, difference
from hardcost.store.record import Record
from hardcost.units import Unit
from hardcost.workloads.metric import MetricSamples


def record(configuration: str, value: float, metric: str = "exec") -> Record:
    return Record(
        identity=configuration,
        role=role_of(configuration),
        workload=workload_of("syscalls"),
        instrument="insn",
        seed=0,
        repetition=0,
        measured=(MetricSamples(metric=metric, unit=Unit.INSN_PER_OP, samples=(value,) * 9),),
        environment={},
        notes=(),
        start_seconds=0.0,
        host_seconds=0.0,
    )


def settings(count: int) -> Profile:
    controls = tuple(Sysctl("kernel.panic", str(n)) for n in range(count))
    return Profile("p", "p", "", controls)


def test_without_placebos_nothing_is_known_of_chance() -> None:
    assert placebo_bound([]) == 0


def test_placebos_that_cost_nothing_leave_a_resolution_of_one_instruction() -> None:
    assert placebo_bound([0.0] * 8) == 0


def test_what_a_placebo_cost_is_never_told_from_chance() -> None:
    assert placebo_bound([0, 0, 0, 0, 0, 0, 0, -40]) >= 40


@pytest.mark.parametrize("count", [4, 8, 16])
def test_normal_chance_is_taken_for_a_cost_once_in_a_hundred(count: int) -> None:
    chance = random.Random(count)  # noqa: S311  (the same draws each time)
    draws = 20_000
    alarms = sum(
        abs(chance.gauss(0, 70)) > placebo_bound([chance.gauss(0, 70) for _ in range(count)])
        for _ in range(draws)
    )
    assert alarms / draws <= FALSE_ALARMS + 4 * math.sqrt(FALSE_ALARMS / draws)
    assert alarms > 0


def test_one_control_alone_cannot_interact() -> None:
    assert interaction_bound(0.0, 1) == math.inf
    assert interaction_bound(3.0, 2) == 3.0 * math.sqrt(2)


def test_one_controls_cost_is_the_total() -> None:
    records = [record("baseline", 1000), record("profile", 1007)]
    records += [record("without:0", 1000), record("alone:0", 1007)]
    bill = itemise(settings(1), records)
    assert bill.items[0].cost == bill.items[0].alone == bill.totals[0].cost == 7
    assert bill.interaction[0].cost == bill.rest[0].cost == 0


def test_a_cost_that_placebos_have_too_is_in_the_rest_and_no_interaction_is_left() -> None:
    records = [record("baseline", 1000), record("profile", 711)]
    records += [record("without:0", 1489), record("alone:0", 711)]
    records += [record("without:1", 1000), record("alone:1", 1010)]
    records += [record("placebo:baseline:0", 700), record("placebo:profile:1", 1400)]
    bill = itemise(settings(2), records)
    assert bill.items == ()
    assert bill.rest[0].cost == bill.totals[0].cost == -289
    assert bill.interaction[0].cost == 0
    assert not bill.totals[0].distinguishable
    assert (bill.least[0].placebos, bill.least[0].cost >= 689) == (2, True)


def test_items_rest_and_interaction_make_the_total_whatever_is_below_the_least() -> None:
    records = [record("baseline", 1000), record("profile", 1600)]
    records += [record("without:0", 1300), record("alone:0", 1100)]
    records += [record("without:1", 1597), record("alone:1", 1003)]
    records += [record("placebo:baseline:0", 1002), record("placebo:profile:1", 1601)]
    bill = itemise(settings(2), records)
    assert [item.cost for item in bill.items] == [300]
    assert bill.interaction[0].cost == 600 - 300 - 3
    assert bill.items[0].cost + bill.rest[0].cost + bill.interaction[0].cost == 600


def test_what_the_bench_saw_of_a_call_is_chance_where_a_bills_placebos_saw_nothing() -> None:
    def found(*configurations: str) -> float:
        records = [
            record(name, 1003 if name == "profile" else 1000, "open") for name in configurations
        ]
        return smallest_distinguishable(MetricId("open"), by_metric(records)[MetricId("open")]).cost

    assert found("baseline", "profile", "placebo:baseline:0") == 3
    assert found("baseline", "profile") == 0


def test_a_total_that_is_not_told_from_chance_is_within_any_budget() -> None:
    assert is_within_budget(
        [Total(MetricId("exec"), "insn/op", 1000, 1100, 100, least=120)], Budget(0.0)
    )
    assert not is_within_budget(
        [Total(MetricId("exec"), "insn/op", 1000, 1100, 100, least=99)], Budget(0.05)
    )


def compared_cells(**values: float) -> dict[str, Cell]:
    """Return the cells of a study of one metric, by configuration; a placebo ends in _."""
    records = [record(_name(name), value, "link") for name, value in values.items()]
    trials = tuple(
        Trial(Configuration(one.role), Workload("syscalls"), "insn", 0) for one in records
    )
    plan = Plan("s", "s", "insn", role_of("base"), trials)
    return {
        str(one.configuration): one for one in allowing_for_chance(cells(plan, records), records)
    }


def _name(word: str) -> str:
    return f"placebo:base:{word[0:-1]}" if word.endswith("_") else word


def of_a_study(other: float) -> dict[str, Cell]:
    nothing = {f"{at}_": value for at, value in enumerate((9994.0, 10_006.0, *[10_000.0] * 6))}
    return compared_cells(base=10_000.0, other=other, **nothing)


@pytest.mark.parametrize("moved", [-12.0, -6.0, 3.0, 7.0])
def test_in_a_study_what_placebos_move_is_no_exact_difference(moved: float) -> None:
    found = of_a_study(10_000.0 + moved)
    assert set(found) == {"base", "other"}
    cell = found["other"]
    assert cell.may_be_baseline
    assert cell.ratio_low <= 1 <= cell.ratio_high
    assert cell.ratio_low < cell.ratio_high
    assert difference(cell, 0) == ABOUT_ZERO


def test_in_a_study_a_quiet_rule_is_seen_beyond_chance() -> None:
    cell = of_a_study(10_019.0)["other"]
    assert 12 <= cell.least < 19
    assert not cell.may_be_baseline
    assert cell.ratio_low > 1
    assert difference(cell, 0) == "+19"


def test_two_runs_differ_by_no_less_than_chance() -> None:
    one, other = of_a_study(10_000.0)["other"], of_a_study(9_994.0)["other"]
    assert compare_cells(one, other, role_of("r")).may_be_equal
    assert compare_cells(one, other, role_of("r")).ratio_high > 1
    assert not compare_cells(one, of_a_study(10_019.0)["other"], role_of("r")).may_be_equal
    assert not compare_cells(one, one, role_of("r")).may_be_equal
