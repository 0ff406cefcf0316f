from __future__ import annotations

import hashlib
import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.report.guests import failed, selinux

from hardcost.analysis.finding import Advice, Score, Search, Total
from hardcost.report.jsonout import compare_json, to_json

if TYPE_CHECKING:
    from hardcost.analysis.finding import Finding

CELL = [
    "configuration", "workload", "metric", "unit", "value", "low", "high", "trials", "baseline",
    "ratio", "ratio_low", "ratio_high", "minimum", "difference",
]  # fmt: skip
HEAD = ["run", "study", "machine", "instrument", "environment", "cells", "notes"]


def test_keys_stand_in_the_documented_order(run: Finding) -> None:
    document = json.loads(to_json(run))
    assert list(document) == [*HEAD, "published"]
    assert list(document["environment"]) == ["qemu", "kernel", "cpu_model", "host"]
    assert len(document["cells"]) == len(run.cells)
    assert all(list(cell) == CELL for cell in document["cells"])


def test_a_cell_is_as_it_was_measured(run: Finding) -> None:
    cells = json.loads(to_json(run))["cells"]
    (cell,) = (c for c in cells if (c["configuration"], c["metric"]) == ("rules=160", "null"))
    assert cell["value"] == cell["low"] == cell["high"] == cell["minimum"] == 3626
    assert cell["unit"] == "insn/op"
    assert cell["difference"] == 3264
    assert cell["ratio"] == pytest.approx(3626 / 362)
    assert '"value": 3626.0' in to_json(run)


def test_a_bill_adds_its_keys_and_adds_up(bill: Finding) -> None:
    document = json.loads(to_json(bill))
    assert list(document) == [*HEAD, "totals", "items", "fixed", "rest", "interaction", "least"]
    assert list(document["totals"][0]) == [
        "metric", "unit", "baseline", "with_profile", "cost", "distinguishable",
    ]  # fmt: skip
    assert list(document["items"][0]) == [
        "control", "metric", "cost", "low", "high", "share", "alone", "fired", "place", "exercised",
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


def test_items_come_largest_first(bill: Finding) -> None:
    costs = [item["cost"] for item in json.loads(to_json(bill))["items"]]
    assert costs == sorted(costs, reverse=True)
    assert len(costs) == 32 * 28


def test_the_same_finding_gives_the_same_bytes(run: Finding) -> None:
    shuffled = replace(run, environment=dict(reversed(run.environment.items())))
    assert to_json(run) == to_json(shuffled)


def test_what_json_can_not_say_is_null(run: Finding) -> None:
    cell = replace(run.cells[0], ratio=math.nan, high=math.inf, low=-math.inf, difference=-0.0)
    (shown,) = json.loads(to_json(replace(run, cells=(cell,))))["cells"]
    assert shown["ratio"] is shown["high"] is shown["low"] is None
    assert math.copysign(1, shown["difference"]) == 1


def test_what_stands_beside_the_cells_follows_them() -> None:
    document = json.loads(to_json(failed(selinux(), "permissive")))
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
    document = json.loads(to_json(failed(selinux(), "none")))
    assert {mean["ratio"] for mean in document["means"]} == {None}
    assert all(cell["ratio"] is None for cell in document["cells"])


def test_names_keep_every_character_and_none_acts(hostile: Finding) -> None:
    text = to_json(hostile)
    assert text.isascii()
    assert "\x1b" not in text
    assert json.loads(text)["run"] == hostile.run


def test_a_comparison_is_the_second_run_over_the_first(run: Finding) -> None:
    faster = tuple(replace(cell, value=cell.value / 2, low=cell.low / 2) for cell in run.cells[1:])
    second = replace(run, run="second", cells=faster, environment={"qemu": "10"})
    document = json.loads(compare_json(run, second))
    assert list(document) == [
        *HEAD, "compared_to", "only_before", "only_after", "warnings",
    ]  # fmt: skip
    assert document["run"] == "second"
    assert document["compared_to"]["run"] == run.run
    cell = document["cells"][0]
    assert list(cell) == [*CELL, "before"]
    assert cell["baseline"] == run.run
    assert (cell["ratio"], cell["ratio_low"], cell["ratio_high"]) == (0.5, 0.5, 1.0)
    assert cell["before"]["value"] == 2 * cell["value"]
    assert [it["metric"] for it in document["only_before"]] == ["null"]
    assert len(document["warnings"]) == 3


def everything(run: Finding, bill: Finding, hostile: Finding) -> str:
    """Return the JSON of findings that have all keys, and values that JSON doesn't know."""
    total = Total("null", "insn/op", 1.0, 2.5, math.inf, low=-math.inf, high=0.0)
    assert bill.bill is not None
    item = replace(bill.bill.items[0], predicted=math.nan, ids=("SRG-1",), caveat="é", share=-0.0)
    odd = replace(
        bill,
        bill=replace(bill.bill, totals=(total,), items=(item,)),
        advice=Advice(None, ("a",), 3, (total,), within=False, budgets={"null": 0.05}),
        search=Search("s", ("one",), (), 4, 0.02, adds_up=True),
        scores={"a": Score(3, 7)},
    )
    cells = (replace(run.cells[0], each=(1.0, math.nan), resolution=0.005), *run.cells[1:])
    guests = failed(selinux(), "permissive")
    texts = [to_json(one) for one in (run, bill, hostile, odd, replace(run, cells=cells), guests)]
    return "\n".join([*texts, compare_json(run, replace(run, cells=cells)), compare_json(run, odd)])


def test_the_bytes_of_results_stay_what_they_are(
    run: Finding, bill: Finding, hostile: Finding
) -> None:
    digest = hashlib.sha256(everything(run, bill, hostile).encode()).hexdigest()
    assert digest[:16] == "a638eddc510d0a7c"
