"""Several bills side by side: totals for each metric, common controls, then each bill."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from hardcost.report.ledger import bill_size, ledger
from hardcost.report.sentences.advice import advice_lines
from hardcost.report.sentences.answer import answer
from hardcost.report.tables.bill_table import bill_grids, bill_of, reading_guide, times
from hardcost.report.tables.layout import Column, Document, Grid, GridText, Group, Lines, Terms
from hardcost.report.tables.run_table import measured_on, note_lines, where
from hardcost.report.text import ABSENT, listed, number, signed, visible
from hardcost.units import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import ConsoleRenderable

    from hardcost.analysis.finding import Finding, SideBySide
    from hardcost.report.ledger import Account


def bills_of(finding: Finding) -> tuple[Finding, ...]:
    """Return each bill as a finding of its own, with the run's machine and environment."""
    return tuple(
        dataclasses.replace(one, machine=finding.machine, environment=finding.environment)
        for one in _together(finding).bills
    )


def several_table(finding: Finding, top: int = 20) -> ConsoleRenderable:
    """Return several bills for a terminal."""
    bills = bills_of(finding)
    parts: list[ConsoleRenderable] = [
        Lines(answer(finding).sentences),
        Lines((several_heading(finding), *measured_on(finding))),
        Lines(tuple(common_lines(finding))),
        GridText(totals_grid(finding)),
    ]
    for one in bills:
        parts.append(Lines((bill_line(one),)))
        parts += [GridText(grid) for grid in bill_grids(one, top)]
        if one.advice is not None:
            parts.append(Lines(tuple(advice_lines(one.advice))))
    if finding.notes:
        parts.append(Lines(tuple(note_lines(finding))))
    guide = {word: meaning for one in bills for word, meaning in reading_guide(bill_of(one))}
    parts.append(Terms(tuple(guide.items())))
    return Document(tuple(parts))


def several_screen(finding: Finding) -> ConsoleRenderable:
    """Return the first screen of several bills: the answers, then the totals side by side."""
    more = f"Each control of each bill: hardcost report {visible(finding.run)} --all"
    return Document(
        (
            Lines(answer(finding).sentences),
            Lines(tuple(common_lines(finding))),
            GridText(totals_grid(finding)),
            Lines((more,)),
        )
    )


def several_heading(finding: Finding) -> str:
    """Return the profiles of the bills and what they were measured with."""
    names = listed(visible(bill_of(one).profile) for one in bills_of(finding))
    return f"Bills for {names}; {where(finding)}"


def bill_line(finding: Finding) -> str:
    """Return a bill's profile, and what it is compared with."""
    bill = bill_of(finding)
    against = f"; compared with: {visible(bill.compared_with)}" if bill.compared_with else ""
    return f"Bill for {visible(bill.profile)}: {bill_size(bill)}{against}"


def common_lines(finding: Finding) -> list[str]:
    """Return whether the bills share one baseline, and which controls all profiles have."""
    together = _together(finding)
    bills = [bill_of(one) for one in together.bills]
    if together.shared:
        baselines = f"One baseline for all: {visible(bills[0].compared_with)}."
    else:
        each = (f"{visible(one.profile)} with {visible(one.compared_with)}" for one in bills)
        baselines = f"Each profile is compared with a baseline of its own: {listed(each)}."
    if not together.common:
        return [baselines, "No control is in all of the profiles."]
    every = "both" if len(bills) == len(("A", "B")) else "all of the"
    in_all = f"{count(len(together.common), 'control')} in {every} profiles:"
    return [baselines, in_all, *(f"  {visible(name)}" for name in together.common)]


def totals_grid(finding: Finding) -> Grid:
    """Return the cost of each metric under each profile, side by side."""
    together = _together(finding)
    books = [
        {account.metric: account for account in ledger(bill_of(one)).accounts}
        for one in together.bills
    ]
    metrics = list(dict.fromkeys(metric for book in books for metric in book))
    labels = [Column("metric", tuple(map(visible, metrics)), left=True)]
    units = {account.unit for book in books for account in book.values()}
    if len(units) > 1:
        of = [next(book[one].unit for book in books if one in book) for one in metrics]
        labels.append(Column("unit", tuple(map(visible, of)), left=True))
    if together.shared:
        labels.append(Column("without", _shown(metrics, books[0], "baseline")))
    groups = [
        Group(visible(bill_of(one).profile), _columns(metrics, book, together))
        for one, book in zip(together.bills, books, strict=True)
    ]
    unit = f"{visible(next(iter(units)))}, " if len(units) == 1 else ""
    return Grid(f"What each profile costs: {unit}{where(finding)}", tuple(labels), tuple(groups))


def _columns(
    metrics: Sequence[str], book: dict[str, Account], together: SideBySide
) -> tuple[Column, ...]:
    own = [] if together.shared else [Column("without", _shown(metrics, book, "baseline"))]
    return (
        *own,
        Column("with", _shown(metrics, book, "with_profile")),
        Column("cost", _shown(metrics, book, "cost")),
        Column("ratio", tuple(times(book[one]) if one in book else ABSENT for one in metrics)),
    )


def _shown(metrics: Sequence[str], book: dict[str, Account], what: str) -> tuple[str, ...]:
    form = signed if what == "cost" else number
    return tuple(
        form(getattr(book[metric], what), book[metric].digits) if metric in book else ABSENT
        for metric in metrics
    )


def _together(finding: Finding) -> SideBySide:
    if finding.together is None:
        raise ValueError(f"run {finding.run!r} does not hold several bills")
    return finding.together
