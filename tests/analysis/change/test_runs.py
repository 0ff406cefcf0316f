"""The price of having any audit rule, where two bills are compared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hardcost.analysis.change.runs import gate_of
from hardcost.analysis.results_file import finding_of
from hardcost.model.finding.bill import Bill, Itemised, Least, Sum, Total
from hardcost.model.workload import MetricId
from tests.show.bill_findings import billed

NAMES = ("old", "new")


def bill(cost: float, *fixed: Sum) -> Bill:
    whole = Itemised(
        profile="p",
        profile_title="p",
        totals=(Total(MetricId("open"), "insn/op", 5000.0, 5000.0 + cost, cost),),
        items=(),
        rest=(),
        interaction=(),
        least=(Least(MetricId("open"), 3.0, 8),),
        fixed=fixed,
    )
    return billed(whole)


@pytest.mark.parametrize(
    ("before", "after", "more"),
    [(0.0, 1580.0, 1580.0), (1580.0, 0.0, -1580.0), (1580.0, 1700.0, 120.0), (1580.0, 1584.0, 0.0)],
)
def test_it_is_what_the_later_bill_has_more_if_that_is_not_chance(
    before: float, after: float, more: float
) -> None:
    base, head = (
        bill(before, Sum(MetricId("open"), before)),
        bill(after, Sum(MetricId("open"), after)),
    )
    (growth,) = gate_of(base, head, NAMES).growths
    assert growth.fixed == more
    assert growth.fixed + growth.rest == growth.difference


def test_of_a_bill_without_it_nothing_is_known_of_it() -> None:
    (growth,) = gate_of(bill(0.0), bill(1580.0, Sum(MetricId("open"), 1580.0)), NAMES).growths
    assert growth.fixed is None
    assert growth.rest == 1580.0


def test_it_is_read_back_from_json(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    said = {
        "run": "r", "study": "s", "machine": "vm", "instrument": "insn", "environment": {},
        "cells": [], "fixed": [{"metric": "open", "cost": 1580.0}],
        "totals": [
            {"metric": "open", "unit": "insn/op", "baseline": 1, "with_profile": 2, "cost": 1}
        ],
    }  # fmt: skip
    file.write_text(json.dumps(said))
    read = finding_of(file)
    assert isinstance(read, Bill)
    assert read is not None
    assert read.fixed == (Sum(MetricId("open"), 1580.0),)
