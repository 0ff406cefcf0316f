"""The whole way of a searched bill, on a machine whose costs are known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from hardcost.analysis.bill.culprits import itemise, story_of
from hardcost.controls.control import Profile
from hardcost.measure.carry_out import Concurrency
from hardcost.measure.monitor import Silent
from hardcost.measure.prepare import prepare_all
from hardcost.measure.run import Run
from hardcost.measure.search import Search
from hardcost.mechanisms.boot import BootParameter
from hardcost.model.finding.bill import Itemised
from hardcost.model.workload import Workload
from hardcost.plan.search import culprits
from hardcost.plan.search.group_testing import statement
from hardcost.plan.search.questions import SearchResult, SearchSettings
from hardcost.protocol.answers import Answer
from hardcost.protocol.boot import Boot
from hardcost.protocol.requests import Request
from hardcost.store.record import Record
from hardcost.store.store import Store
from tests.fakes.machine import FakeMachine
from tests.protocol.json_messages import as_sent, typed

WORKLOAD = Workload("syscalls", (("calls", "null+open"),))
PROFILE = Profile("p", "t", "", tuple(BootParameter(f"word{n}") for n in range(40)))
BASE = {"null": 1000, "open": 5000}
# What each word costs; the two last only together.
COSTS = {"word17": 300, "word30": 90}
TOGETHER = ({"word5", "word6"}, 200)


def answer(boot: Boot, job: Sequence[Request]) -> list[Answer]:
    on = set(boot.parameters)
    cost = sum(cost for word, cost in COSTS.items() if word in on)
    cost += TOGETHER[1] * (on >= TOGETHER[0])
    (calls,) = (one["calls"] for one in as_sent(job) if one["do"] == "calls")
    samples = {
        call["name"]: [(BASE[call["name"]] + cost) * call["batch"]] * call["samples"]
        for call in calls
    }
    measured = [{"event": "call", "name": name, "samples": each} for name, each in samples.items()]
    return typed([{"event": "hello"}, {"event": "clock"}, *measured])


def searched(folder: Path) -> tuple[SearchResult, Itemised, list[Record], str]:
    machine, monitor = FakeMachine(answer), Silent()
    found = culprits.suspects(PROFILE)
    plan = culprits.first_plan(PROFILE, found, [WORKLOAD])
    settings = SearchSettings(threshold=0.01)
    prepared = prepare_all(plan, machine, monitor)
    with Store(folder / "s.sqlite") as store:
        run = Run.of(plan, prepared, machine, store, monitor, limits=Concurrency(1))
        carried_out = Search(run, plan, found, run.measure().records)
        outcome = carried_out.outcome(settings)
    records = carried_out.records
    bill = itemise(PROFILE, found.problem, outcome, records)
    said = statement(found.problem, settings)
    story = story_of(found.problem.names, outcome, said, "the mean")
    log = "\n".join((story.statement, *story.steps, *story.conclusions))
    return outcome, bill, records, log


def test_the_culprits_are_found_and_priced_on_every_metric(tmp_path: Path) -> None:
    outcome, bill, _, _ = searched(tmp_path)
    assert {one.index for one in outcome.culprits if one.confirmed} == {5, 6, 17, 30}
    costs = {(one.control, str(one.metric)): (one.cost, one.alone) for one in bill.items}
    for metric in BASE:
        assert costs["word17", metric] == (300, 300)
        assert costs["word30", metric] == (90, 90)
        assert costs["word6", metric] == (200, 0)


def test_items_rest_and_interaction_add_up_to_the_total(tmp_path: Path) -> None:
    _, bill, _, _ = searched(tmp_path)
    for total, rest, interaction in zip(bill.totals, bill.rest, bill.interaction, strict=True):
        items = math.fsum(item.cost for item in bill.items if item.metric == total.metric)
        assert items + rest.cost + interaction.cost == total.cost == 590
        assert rest.cost == 0
        assert interaction.cost == -200  # leaving out either of the two saves both's cost


def test_no_configuration_is_measured_twice(tmp_path: Path) -> None:
    outcome, _, records, _ = searched(tmp_path)
    names = [record.role for record in records]
    assert len(names) == len(set(names)) == outcome.configurations


def test_controls_of_one_name_are_distinguished() -> None:
    twice = Profile("p", "t", "", (BootParameter("a"), BootParameter("b"), BootParameter("a")))
    assert culprits.suspects(twice).problem.names == ("a", "b", "a (2)")


def test_the_log_names_the_culprits_and_every_configuration(tmp_path: Path) -> None:
    outcome, _, _, log = searched(tmp_path)
    assert "word17" in log
    assert "confirmed" in log
    assert "Without all culprits the profile makes +0.00% of the baseline: below the resol" in log
    for step in outcome.steps:
        assert str(culprits.role_with(step.on, 40)) in log
