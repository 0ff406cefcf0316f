"""Findings with any text in their names."""

from __future__ import annotations

from auditrules.model.location import Location
from hardcost.model.finding.bill import Bill, Item, Sum, Total
from hardcost.model.finding.cell import Cell
from hardcost.model.role import role_of
from hardcost.model.workload import metric_of, workload_of


def finding(text: str = "x", *, run: str = "r", value: float = 110.0) -> Bill:
    """Return a bill of one control, whose names are all `text`."""
    cells = tuple(
        Cell(
            configuration=role_of(name),
            workload=workload_of(text),
            metric=text,
            unit="insn/op",
            value=of,
            low=of,
            high=of,
            minimum=of,
            trials=1,
            baseline=role_of("baseline"),
            difference=of - 100.0,
            ratio=of / 100.0,
            ratio_low=of / 100.0,
            ratio_high=of / 100.0,
        )
        for name, of in (("baseline", 100.0), (text, value))
    )
    cost = value - 100.0
    return Bill(
        run=run,
        study=text,
        title=text,
        instrument="insn",
        cells=cells,
        machine="vm",
        environment={"kernel": text, "qemu": "7.2", "cpu_model": "max"},
        profile=text,
        profile_title=text,
        totals=(Total(metric_of(text), "insn/op", 100.0, value, cost),),
        items=(
            Item(
                text,
                metric_of(text),
                "insn/op",
                cost,
                cost,
                cost,
                1.0,
                cost,
                3,
                place=Location.of(text),
            ),
        ),
        rest=(Sum(metric_of(text), 0.0),),
        interaction=(Sum(metric_of(text), 0.0),),
    )
