"""Several bills side by side: totals for each metric, common controls, then each bill."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import ConsoleRenderable

from hardcost.model.finding.bill import Bill, Bills
from hardcost.model.workload import MetricId
from hardcost.show.bill_rows import MetricFigures, bill_size, rows_of_bill
from hardcost.show.sentences.advice import advice_lines
from hardcost.show.sentences.answer import answer
from hardcost.show.tables.bill import bill_grids, reading_guide, times
from hardcost.show.tables.layout import (
    Column,
    ColumnGroup,
    Grid,
    GridText,
    Layout,
    Terms,
    TextLines,
)
from hardcost.show.tables.run import conditions_line, instrument_and_machine, note_lines
from hardcost.show.text import ABSENT, number, signed_number
from hardcost.units import count, join_in_prose, visible


def several_table(finding: Bills, top: int = 20) -> ConsoleRenderable:
    """Return several bills for a terminal."""
    bills = finding.bills
    parts: list[ConsoleRenderable] = [
        TextLines(answer(finding).sentences),
        TextLines((several_heading(finding), *conditions_line(finding))),
        TextLines(tuple(common_lines(finding))),
        GridText(totals_grid(finding)),
    ]
    for one in bills:
        parts.append(TextLines((bill_line(one),)))
        parts += [GridText(grid) for grid in bill_grids(one, top)]
        if one.advice is not None:
            parts.append(TextLines(tuple(advice_lines(one.advice))))
    if finding.notes:
        parts.append(TextLines(tuple(note_lines(finding))))
    guide = {word: meaning for one in bills for word, meaning in reading_guide(one)}
    parts.append(Terms(tuple(guide.items())))
    return Layout(tuple(parts))


def several_screen(finding: Bills, store: str = "") -> ConsoleRenderable:
    """Return the first screen of several bills: the answers, then the totals side by side.

    `store` are the words that name the store, if it is not the default one.
    """
    command = f"hardcost report {visible(finding.run)} --all{visible(store)}"
    return Layout(
        (
            TextLines(answer(finding).sentences),
            TextLines(tuple(common_lines(finding))),
            GridText(totals_grid(finding)),
            TextLines((f"Each control of each bill: {command}",)),
        )
    )


def several_heading(finding: Bills) -> str:
    """Return the profiles of the bills and what they were measured with."""
    names = join_in_prose(visible(one.profile) for one in finding.bills)
    return f"Bills for {names}; {instrument_and_machine(finding)}"


def bill_line(bill: Bill) -> str:
    """Return a bill's profile, and what it is compared with."""
    against = f"; compared with: {visible(bill.compared_with)}" if bill.compared_with else ""
    return f"Bill for {visible(bill.profile)}: {bill_size(bill)}{against}"


def common_lines(finding: Bills) -> list[str]:
    """Return whether the bills share one baseline, and which controls all profiles have."""
    bills = finding.bills
    if finding.shared_baseline:
        baselines = f"One baseline for all: {visible(bills[0].compared_with)}."
    else:
        each = (f"{visible(one.profile)} with {visible(one.compared_with)}" for one in bills)
        baselines = f"Each profile is compared with a baseline of its own: {join_in_prose(each)}."
    if not finding.common:
        return [baselines, "No control is in all of the profiles."]
    every = "both" if len(bills) == len(("A", "B")) else "all of the"
    in_all = f"{count(len(finding.common), 'control')} in {every} profiles:"
    return [baselines, in_all, *(f"  {visible(name)}" for name in finding.common)]


def totals_grid(finding: Bills) -> Grid:
    """Return the cost of each metric under each profile, side by side."""
    figures = [
        {account.metric: account for account in rows_of_bill(one).accounts} for one in finding.bills
    ]
    metrics = list(dict.fromkeys(metric for rows in figures for metric in rows))
    labels = [Column("metric", tuple(map(visible, metrics)), left=True)]
    units = {account.unit for rows in figures for account in rows.values()}
    if len(units) > 1:
        of = [next(rows[one].unit for rows in figures if one in rows) for one in metrics]
        labels.append(Column("unit", tuple(map(visible, of)), left=True))
    if finding.shared_baseline:
        labels.append(Column("without", _total_cells(metrics, figures[0], "baseline")))
    groups = [
        ColumnGroup(visible(one.profile), _columns(metrics, rows, finding))
        for one, rows in zip(finding.bills, figures, strict=True)
    ]
    unit = f"{visible(next(iter(units)))}, " if len(units) == 1 else ""
    return Grid(
        f"What each profile costs: {unit}{instrument_and_machine(finding)}",
        tuple(labels),
        tuple(groups),
    )


def _columns(
    metrics: Sequence[MetricId], rows: dict[MetricId, MetricFigures], finding: Bills
) -> tuple[Column, ...]:
    own = (
        []
        if finding.shared_baseline
        else [Column("without", _total_cells(metrics, rows, "baseline"))]
    )
    return (
        *own,
        Column("with", _total_cells(metrics, rows, "with_profile")),
        Column("cost", _total_cells(metrics, rows, "cost")),
        Column("ratio", tuple(times(rows[one]) if one in rows else ABSENT for one in metrics)),
    )


def _total_cells(
    metrics: Sequence[MetricId], rows: dict[MetricId, MetricFigures], what: str
) -> tuple[str, ...]:
    form = signed_number if what == "cost" else number
    return tuple(
        form(getattr(rows[metric], what), rows[metric].digits) if metric in rows else ABSENT
        for metric in metrics
    )
