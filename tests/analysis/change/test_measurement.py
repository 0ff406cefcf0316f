"""The growth of a machine whose costs are known: lines, fixed price and rest add up exactly."""

from __future__ import annotations

import asyncio
import math

import pytest

from hardcost.analysis.change.measurement import growths, lines_by_role, only_rule
from hardcost.controls.control import Profile
from hardcost.measure.execute import execute
from hardcost.measure.prepare import prepare
from hardcost.mechanisms.audit import AuditDaemon
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.model.finding.change import Growth
from hardcost.model.role import Base, Idle, PlaceboRole, Whole
from hardcost.model.workload import Workload
from hardcost.plan.change import changes, lines_plan, payer, whole_plan
from hardcost.plan.plan import Plan, Trial
from tests.analysis.bill.test_itemise import CALLS, Model, rule
from tests.fakes.machine import FakeMachine

COSTS = (20, 0, 40)
FIXED = Model(COSTS).shared


def profile_of(*numbers: int) -> Profile:
    setting = Sysctl("kernel.randomize_va_space", "2")
    return Profile("p", "a profile", "", (AuditDaemon(), *map(rule, numbers), setting))


def plan_of(base: Profile, head: Profile) -> Plan:
    workload = Workload("syscalls", (("calls", "+".join(CALLS)),))
    return whole_plan(base, head, [workload], instrument="insn")


def idle(plan: Plan) -> list[Trial]:
    return [one for one in plan.trials if isinstance(one.configuration.role, Idle)]


def grown(base: Profile, head: Profile) -> tuple[Growth, ...]:
    plan, changed = plan_of(base, head), changes(base, head)
    lines = [
        *lines_plan(plan, head, Whole(), [(at,) for at in changed.added]).trials,
        *lines_plan(plan, base, Base(), [(at,) for at in changed.removed]).trials,
    ]
    machine = FakeMachine(Model(COSTS).answer)

    async def run() -> tuple[Growth, ...]:
        chosen = [one for one in plan.trials if not isinstance(one.configuration.role, PlaceboRole)]
        trials = [prepare(trial, machine) for trial in (*chosen, *lines)]
        records = [await execute(trial, machine, 5) for trial in trials]
        pays = payer(base, head)
        sole = only_rule(base, head, pays)
        return growths(records, lines_by_role(base, head, changed), payer=pays, sole=sole)

    found = asyncio.run(run())
    for one in found:
        parts = [part.cost for part in one.parts]
        assert math.fsum([*parts, one.fixed or 0.0, one.rest]) == one.difference
    return found


@pytest.mark.parametrize(
    ("base", "head", "fixed", "parts", "rest"),
    [
        ((), (0, 2), FIXED, [40, 20], 0),
        ((0, 2), (), -FIXED, [-20, -40], 0),
        ((), (0,), FIXED, [20], 0),  # leaving it out saves 320
        ((0,), (), -FIXED, [-20], 0),
        ((), (0, 1), FIXED, [25, 5], -5),  # what both cost together is saved without either
    ],
)
def test_from_no_rule_to_some_or_back_has_the_price_of_having_any(
    base: tuple[int, ...], head: tuple[int, ...], fixed: int, parts: list[int], rest: int
) -> None:
    null, opened = grown(profile_of(*base), profile_of(*head))
    assert [part.cost for part in null.parts] == parts
    assert (null.fixed, null.rest) == (fixed, rest)
    assert (opened.fixed, opened.rest) == (2 * fixed, 2 * rest)


def test_where_both_have_rules_or_none_has_no_idle_rule_is_measured() -> None:
    pairs = [(profile_of(0), profile_of(0, 2)), (profile_of(0), profile_of(2))]
    for base, head in pairs:
        assert not idle(plan_of(base, head))
        assert {one.fixed for one in grown(base, head)} == {0.0}
    one = profile_of()
    assert not payer(one, one)


def test_from_none_to_some_three_trials_are_added() -> None:
    assert len(idle(plan_of(profile_of(), profile_of(0)))) == 3
