"""Findings of bills, made of what is itemised."""

from __future__ import annotations

from collections.abc import Sequence

from hardcost.model.finding.bill import Bill, Bills, Itemised
from hardcost.model.finding.cell import Cell


def billed(  # noqa: PLR0913  (what a run is)
    itemised: Itemised,
    *,
    run: str = "r",
    study: str = "s",
    title: str = "t",
    instrument: str = "insn",
    cells: Sequence[Cell] = (),
) -> Bill:
    """Return the bill that holds what is itemised."""
    return Bill(
        run=run,
        study=study,
        title=title,
        instrument=instrument,
        machine="vm",
        cells=tuple(cells),
        **vars(itemised),
    )


def side_by_side(*bills: Bill, common: Sequence[str] = (), shared: bool = True) -> Bills:
    """Return bills of one run, on its machine."""
    first = bills[0]
    return Bills(
        run=first.run,
        study=first.study,
        title=first.title,
        instrument=first.instrument,
        machine=first.machine,
        environment=first.environment,
        cells=(),
        notes=first.notes,
        common=tuple(common),
        shared_baseline=shared,
        bills=bills,
    )
