"""The bill of a machine whose costs are known: every part is found, and the sum is exact."""

from __future__ import annotations

import asyncio
import itertools
import math
import random
from collections.abc import Callable, Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from auditrules.model.location import Location
from auditrules.read.parse import read_line
from hardcost.analysis.bill.itemise import itemise
from hardcost.controls.control import Profile
from hardcost.measure.execute import execute
from hardcost.measure.prepare import prepare
from hardcost.mechanisms.audit import AuditDaemon, AuditRule
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.model.finding.bill import Itemised
from hardcost.model.workload import MetricId, Workload
from hardcost.plan.leave_one_out import bill_plan
from hardcost.protocol.answers import Answer
from hardcost.protocol.boot import Boot
from hardcost.protocol.requests import Request
from tests.fakes.machine import FakeMachine
from tests.protocol.json_messages import as_sent, typed

CALLS = ("null", "open")
BASE = 10_000
EMPTY = 3  # ticks of an empty window


def rule(number: int) -> AuditRule:
    reading = read_line(f"-a always,exit -S swapon -F uid={number}", Location("my.rules", number))
    assert reading.rule is not None
    return AuditRule(reading.rule)


def profile_of(rules: int) -> Profile:
    setting = Sysctl("kernel.randomize_va_space", "2", place=Location("p.toml", 4))
    return Profile("p", "a profile", "", (AuditDaemon(), *(rule(n) for n in range(rules)), setting))


class Model:
    """A kernel in which the rule for user N costs `costs[N]`, and some work is shared.

    `shared` is paid once as soon as there is a rule, `sysctl` for the setting, and `together` when
    the rules 0 and 1 are both there. `noise` comes on top of each sample.
    """

    def __init__(self, costs: Sequence[int], noise: Callable[[], int] = lambda: 0) -> None:
        self.costs = costs
        self.noise = noise
        self.shared, self.sysctl, self.together = 300, 17, 5

    def answer(self, boot: Boot, requests: Sequence[Request]) -> list[Answer]:
        job = as_sent(requests)
        text = "".join(one["rules"] for one in job if one["do"] == "audit")
        lines = [line for line in text.splitlines() if "-S swapon" in line]
        numbers = [int(line.split("uid=")[1].split()[0]) for line in lines if "uid=" in line]
        idle = len(lines) - len(numbers)
        written = [one for one in job if one["do"] == "write"]
        cost = sum(self.costs[number] for number in numbers) + self.sysctl * len(written)
        cost += self.shared * bool(lines) + 7 * idle + self.together * ({0, 1} <= set(numbers))
        cost -= 100 * ("audit=0" in boot.parameters)
        keys = {f"hardcost-{n + 1}": n for n in numbers} if "hardcost-1" in text else {}
        answers: list[dict[str, object]] = [{"event": "hello"}]
        answers += [
            {"event": "written", "path": one["path"], "before": "0", "after": one["value"]}
            for one in written
        ]
        answers += [
            {"event": "audit", "exit": 0, "stdout": "", "stderr": "", "loaded": len(lines)},
            {"event": "clock", "overhead": [EMPTY]},
        ]
        ran = {"event": "call", "uid": 1000, "loginuid": 1000}
        calls = next(one for one in job if one["do"] == "calls")["calls"]
        for place, call in enumerate(calls, 1):
            ticks = [
                (BASE + cost * place + self.noise()) * call["batch"] + EMPTY
                for _ in range(call["samples"])
            ]
            audit = {"by_key": keys, "lost": 0}
            said = {"name": call["name"], "batch": call["batch"], "samples": ticks, "audit": audit}
            answers.append({**ran, **said})
        return typed(answers)


def bill_of(model: Model, instrument: str = "insn", seeds: int = 1) -> Itemised:
    profile = profile_of(len(model.costs))
    machine = FakeMachine(model.answer)
    workload = Workload("syscalls", (("calls", "+".join(CALLS)),))
    plan = bill_plan(profile, [workload], instrument=instrument, seeds=tuple(range(seeds)))

    async def run() -> Itemised:
        prepared = [prepare(trial, machine) for trial in plan.trials]
        return itemise(profile, [await execute(trial, machine, 5) for trial in prepared])

    return asyncio.run(run())


def assert_adds_up(bill: Itemised) -> None:
    for total, fixed, rest, interaction in zip(
        bill.totals, bill.fixed, bill.rest, bill.interaction, strict=True
    ):
        items = math.fsum(item.cost for item in bill.items if item.metric == total.metric)
        assert items + fixed.cost + rest.cost + interaction.cost == total.cost
        assert total.with_profile - total.baseline == total.cost


def test_every_part_of_a_known_cost_is_found() -> None:
    bill = bill_of(Model([20, 0, 40]))
    assert_adds_up(bill)
    assert [(str(total.metric), total.cost) for total in bill.totals] == [
        ("null", 382),
        ("open", 764),
    ]
    cost = {item.control: item.cost for item in bill.items if item.metric == MetricId("null")}
    alone = {item.control: item.alone for item in bill.items if item.metric == MetricId("null")}
    names = [control.name for control in profile_of(3).controls[1:]]
    assert [cost[name] for name in names] == [25, 5, 40, 17]  # 5: what 0 and 1 cost together
    assert [alone[name] for name in names] == [320, 300, 340, 17]
    assert [(str(one.metric), one.cost) for one in bill.fixed] == [("null", 300), ("open", 600)]
    # What the rules 0 and 1 cost together is part of what leaving out either saves.
    assert [(str(one.metric), one.cost) for one in bill.interaction] == [
        ("null", -5),
        ("open", -10),
    ]
    assert {one.cost for one in bill.rest} == {0}


def test_the_only_rule_costs_what_it_adds_to_having_any() -> None:
    bill = bill_of(Model([20]))
    assert_adds_up(bill)
    cost = {
        item.control: (item.cost, item.alone)
        for item in bill.items
        if item.metric == MetricId("null")
    }
    assert cost == {rule(0).name: (20, 320), "kernel.randomize_va_space=2": (17, 17)}
    assert [one.cost for one in bill.fixed] == [300, 600]
    assert [one.cost for one in bill.interaction] == [0, 0]
    assert bill.rules == (rule(0).name,)


def test_items_come_largest_first_with_their_place_and_how_often_they_fired() -> None:
    bill = bill_of(Model([20, 0, 40]))
    assert [item.cost for item in bill.items] == sorted(
        (item.cost for item in bill.items), reverse=True
    )
    facts = {(item.control, str(item.place), item.fired) for item in bill.items}
    assert facts == {
        *((rule(number).name, f"my.rules:{number}", number) for number in range(3)),
        ("kernel.randomize_va_space=2", "p.toml:4", None),
    }


@given(
    costs=st.lists(st.integers(0, 10**6), min_size=1, max_size=4),
    seed=st.integers(0, 2**32),
    spread=st.sampled_from([0, 1, 1000]),
    seeds=st.integers(1, 3),
)
@settings(deadline=None)
def test_the_sum_is_exact_whatever_the_noise(
    costs: list[int], seed: int, spread: int, seeds: int
) -> None:
    generator = random.Random(seed)  # noqa: S311  (no secret)
    assert_adds_up(bill_of(Model(costs, lambda: generator.randint(-spread, spread)), seeds=seeds))


def test_what_noise_hides_goes_into_the_rest_and_what_stands_out_does_not() -> None:
    generator = random.Random(1)  # noqa: S311  (no secret)
    bill = bill_of(Model([20_000, 0, 0, 0], lambda: generator.randint(-100, 100)), "time")
    assert_adds_up(bill)
    told = {item.control for item in bill.items}
    assert rule(0).name in told
    hidden = {rule(number).name for number in range(2, 4)} - told
    assert hidden
    for item in bill.items:
        assert not item.low <= 0 <= item.high


def test_means_that_have_no_finite_binary_fraction_add_up_too() -> None:
    """A third has none: the estimates lie on a grid of numbers that have."""
    steps = itertools.cycle([1, 2, 3, 5, 7, 11, 13])
    bill = bill_of(Model([3, 7, 19], lambda: next(steps)), "time", seeds=3)
    assert_adds_up(bill)
    for item in bill.items:
        assert (item.cost * 1024).is_integer()
