from __future__ import annotations

import hashlib
import json
import math
from dataclasses import replace

import pytest

from hardcost.analysis.change.comparison import compare_runs
from hardcost.analysis.whole_finding import with_derived_values
from hardcost.model.finding.bill import Advice, Bill, Story, Total
from hardcost.model.finding.head import Score
from hardcost.model.finding.study import StudyFinding
from hardcost.model.role import role_of
from hardcost.model.workload import MetricId
from hardcost.show.json import to_json
from tests.show.guests import failed, selinux

CELL = [
    "configuration", "workload", "metric", "unit", "value", "low", "high", "trials", "baseline",
    "ratio", "ratio_low", "ratio_high", "minimum", "difference",
]  # fmt: skip
HEAD = ["version", "kind", "run", "study", "machine", "instrument", "environment", "cells", "notes"]


def test_keys_stand_in_the_documented_order(run: StudyFinding) -> None:
    document = json.loads(to_json(with_derived_values(run)))
    assert list(document) == [*HEAD, "published"]
    assert list(document["environment"]) == ["qemu", "kernel", "cpu_model", "host"]
    assert len(document["cells"]) == len(run.cells)
    assert all(list(cell) == CELL for cell in document["cells"])


def test_a_cell_is_as_it_was_measured(run: StudyFinding) -> None:
    cells = json.loads(to_json(run))["cells"]
    (cell,) = (c for c in cells if (c["configuration"], c["metric"]) == ("rules=160", "null"))
    assert cell["value"] == cell["low"] == cell["high"] == cell["minimum"] == 3626
    assert cell["unit"] == "insn/op"
    assert cell["difference"] == 3264
    assert cell["ratio"] == pytest.approx(3626 / 362)
    assert '"value": 3626.0' in to_json(run)


def test_a_bill_adds_its_keys_and_adds_up(bill: Bill) -> None:
    document = json.loads(to_json(bill))
    assert list(document) == [
        *HEAD, "profile", "totals", "items", "fixed", "rest", "interaction", "least",
    ]  # fmt: skip
    assert list(document["totals"][0]) == [
        "metric", "unit", "baseline", "with_profile", "cost", "distinguishable",
    ]  # fmt: skip
    assert list(document["items"][0]) == [
        "control", "metric", "cost", "low", "high", "share", "alone", "fired", "place", "known",
        "exercised",
        "default",
    ]  # fmt: skip
    for total in document["totals"]:
        parts = sum(
            entry["cost"]
            for key in ("items", "rest", "interaction")
            for entry in document[key]
            if entry["metric"] == total["metric"]
        )
        assert parts == total["cost"] == total["with_profile"] - total["baseline"]


def test_items_come_largest_first(bill: Bill) -> None:
    costs = [item["cost"] for item in json.loads(to_json(with_derived_values(bill)))["items"]]
    assert costs == sorted(costs, reverse=True)
    assert len(costs) == 32 * 28


def test_the_same_finding_gives_the_same_bytes(run: StudyFinding) -> None:
    shuffled = replace(run, environment=dict(reversed(run.environment.items())))
    assert to_json(with_derived_values(run)) == to_json(with_derived_values(shuffled))


def test_what_json_can_not_say_is_null(run: StudyFinding) -> None:
    cell = replace(run.cells[0], ratio=math.nan, high=math.inf, low=-math.inf, difference=-0.0)
    (shown,) = json.loads(to_json(replace(run, cells=(cell,))))["cells"]
    assert shown["ratio"] is shown["high"] is shown["low"] is None
    assert math.copysign(1, shown["difference"]) == 1


def test_what_stands_beside_the_cells_follows_them() -> None:
    document = json.loads(to_json(with_derived_values(failed(selinux(), "permissive"))))
    assert list(document) == [*HEAD, "failures", "observed", "published", "means"]
    failure, *others = document["failures"]
    assert failure == {
        "configuration": "permissive",
        "workload": "apache-prefork",
        "seed": 0,
        "repetition": 0,
        "reason": "the service died",
        "hint": "start it by hand",
        "log": "first\nlast words",
    }
    assert len(others) == 2
    seen = document["observed"][-1]
    assert (seen["instrument"], seen["configuration"]) == ("avc", "enforcing")
    assert seen["totals"]["lookups"] == 41_000
    total = next(
        it
        for it in document["means"]
        if it["workload"] is None and it["configuration"] == "enforcing"
    )
    assert total["ratio"] == pytest.approx(1.0816)
    assert document["published"][0]["ratio"] == pytest.approx(1.06)


def test_unknown_means_are_null() -> None:
    document = json.loads(to_json(with_derived_values(failed(selinux(), "none"))))
    assert {mean["ratio"] for mean in document["means"]} == {None}
    assert all(cell["ratio"] is None for cell in document["cells"])


def test_names_keep_every_character_and_none_acts(hostile: StudyFinding) -> None:
    text = to_json(hostile)
    assert text.isascii()
    assert "\x1b" not in text
    assert json.loads(text)["run"] == hostile.run


def test_a_comparison_is_the_second_run_over_the_first(run: StudyFinding) -> None:
    faster = tuple(replace(cell, value=cell.value / 2, low=cell.low / 2) for cell in run.cells[1:])
    second = replace(run, run="second", cells=faster, environment={"qemu": "10"})
    shown = json.loads(to_json(compare_runs(with_derived_values(run), with_derived_values(second))))
    assert list(shown) == [
        *HEAD, "compared_to", "only_before", "only_after", "warnings",
    ]  # fmt: skip
    assert shown["run"] == "second"
    assert shown["compared_to"]["run"] == run.run
    cell = shown["cells"][0]
    assert list(cell) == [*CELL, "before"]
    assert cell["baseline"] == run.run
    assert (cell["ratio"], cell["ratio_low"], cell["ratio_high"]) == (0.5, 0.5, 1.0)
    assert cell["before"]["value"] == 2 * cell["value"]
    assert [it["metric"] for it in shown["only_before"]] == ["null"]
    assert len(shown["warnings"]) == 3


def everything(run: StudyFinding, bill: Bill, hostile: StudyFinding) -> str:
    """Return the JSON of findings that have all keys, and values that JSON doesn't know."""
    total = Total(MetricId("null"), "insn/op", 1.0, 2.5, math.inf, low=-math.inf, high=0.0)
    item = replace(bill.items[0], predicted=math.nan, ids=("SRG-1",), caveat="é", share=-0.0)
    odd = replace(
        bill,
        totals=(total,),
        items=(item,),
        advice=Advice(
            budget=None,
            leave_out=("a",),
            kept=3,
            totals=(total,),
            within=False,
            budgets={"null": 0.05},
        ),
        search=Story("s", ("one",), (), 4, 0.02, adds_up=True),
        scores={role_of("a"): Score(3, 7)},
    )
    cells = (replace(run.cells[0], each=(1.0, math.nan), resolution=0.005), *run.cells[1:])
    measured, guests = replace(run, cells=cells), failed(selinux(), "permissive")
    shown = (run, bill, hostile, odd, measured, guests)
    texts = [to_json(with_derived_values(one)) for one in shown]
    joined = [to_json(compare_runs(run, one)) for one in (measured, odd)]
    return "\n".join([*texts, *joined])


def test_the_bytes_of_results_stay_what_they_are(
    run: StudyFinding, bill: Bill, hostile: StudyFinding
) -> None:
    digest = hashlib.sha256(everything(run, bill, hostile).encode()).hexdigest()
    assert digest[:16] == "f127ce2882db56be"
