"""The price of having any audit rule, where two bills are compared."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from hardcost.analysis.finding import Bill, Finding, Least, Sum, Total
from hardcost.report.comparedgrowth import gate_of
from hardcost.report.jsonin import finding_of

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ("old", "new")


def bill(cost: float, *fixed: Sum) -> Finding:
    whole = Bill(
        profile="p",
        title="p",
        totals=(Total("open", "insn/op", 5000.0, 5000.0 + cost, cost),),
        items=(),
        rest=(),
        interaction=(),
        least=(Least("open", 3.0, 8),),
        fixed=fixed,
    )
    return Finding(
        run="r", study="s", title="s", instrument="insn", cells=(), machine="vm", bill=whole
    )


@pytest.mark.parametrize(
    ("before", "after", "more"),
    [(0.0, 1580.0, 1580.0), (1580.0, 0.0, -1580.0), (1580.0, 1700.0, 120.0), (1580.0, 1584.0, 0.0)],
)
def test_it_is_what_the_later_bill_has_more_if_that_is_not_chance(
    before: float, after: float, more: float
) -> None:
    base, head = bill(before, Sum("open", before)), bill(after, Sum("open", after))
    (growth,) = gate_of(base, head, NAMES).growths
    assert growth.fixed == more
    assert growth.fixed + growth.rest == growth.difference


def test_of_a_bill_without_it_nothing_is_known_of_it() -> None:
    (growth,) = gate_of(bill(0.0), bill(1580.0, Sum("open", 1580.0)), NAMES).growths
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
    read = finding_of(file).bill
    assert read is not None
    assert read.fixed == (Sum("open", 1580.0),)
