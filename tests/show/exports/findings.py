"""Findings with any text in their names."""

from __future__ import annotations

from hardcost.analysis.finding import Bill, Cell, Finding, Item, Sum, Total


def finding(text: str = "x", *, run: str = "r", value: float = 110.0) -> Finding:
    """Return a bill of one control, whose names are all `text`."""
    cells = tuple(
        Cell(
            configuration=name,
            workload=text,
            metric=text,
            unit="insn/op",
            value=of,
            low=of,
            high=of,
            minimum=of,
            trials=1,
            baseline="baseline",
            difference=of - 100.0,
            ratio=of / 100.0,
            ratio_low=of / 100.0,
            ratio_high=of / 100.0,
        )
        for name, of in (("baseline", 100.0), (text, value))
    )
    cost = value - 100.0
    return Finding(
        run=run,
        study=text,
        title=text,
        instrument="insn",
        cells=cells,
        machine="vm",
        environment={"kernel": text, "qemu": "7.2", "cpu_model": "max"},
        bill=Bill(
            profile=text,
            title=text,
            totals=(Total(text, "insn/op", 100.0, value, cost),),
            items=(Item(text, text, "insn/op", cost, cost, cost, 1.0, cost, 3, place=text),),
            rest=(Sum(text, 0.0),),
            interaction=(Sum(text, 0.0),),
        ),
    )
