"""The choice for a budget, on a terminal: the answer, the controls, the frontier."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.console import ConsoleRenderable

from hardcost.model.finding.choice import Advised, Choice, FrontierLevel
from hardcost.model.workload import MetricId
from hardcost.show.sentences.choice import (
    budget_words,
    choice_notes,
    choice_sentences,
    cost_words,
    given_up_lines,
    kept_lines,
)
from hardcost.show.tables.layout import Column, ColumnGroup, Grid, GridText, Layout, TextLines
from hardcost.show.tables.run import conditions_line, instrument_and_machine, note_lines
from hardcost.show.text import decimals, percent, signed_number
from hardcost.units import visible

_METRICS = 4
"""Most metrics with columns."""

_LEFT_OUT = "Budgets that allow the same choice as the one before are left out."


def choice_table(finding: Advised) -> ConsoleRenderable:
    """Return the choice for a budget, for a terminal."""
    choice = finding.choice
    parts: list[ConsoleRenderable] = [TextLines(tuple(choice_sentences(choice)))]
    if lines := (*kept_lines(choice, finding.controls), *given_up_lines(choice)):
        parts.append(TextLines(lines))
    parts.append(TextLines((_heading(choice, finding), *conditions_line(finding))))
    if choice.frontier:
        parts.append(GridText(frontier_grid(choice)))
    parts.append(TextLines((*choice_notes(choice), *note_lines(finding))))
    return Layout(tuple(parts))


def frontier_grid(choice: Choice) -> Grid:
    """Return the frontier: a row for each level of the budget."""
    levels = _different_levels(choice.frontier)
    costs = [column for name in dearest(choice) for column in _columns(levels, name)]
    how = Column(
        "cost is", tuple("measured" if one.measured else "predicted" for one in levels), left=True
    )
    return Grid(
        "For each budget: what can be kept, and its cost",
        (Column("budget", tuple(level_words(choice, one) for one in levels), left=True),),
        (
            ColumnGroup(
                "",
                (
                    Column("kept", tuple(str(one.kept) for one in levels)),
                    Column("given up", tuple(str(len(one.given_up)) for one in levels)),
                    Column("value kept", tuple(percent(one.value) for one in levels)),
                    *costs,
                    how,
                ),
            ),
        ),
        notes=(_LEFT_OUT,) if len(levels) < len(choice.frontier) else (),
    )


def given_up_grids(choice: Choice) -> tuple[Grid, ...]:
    """Return the controls that a larger budget keeps, and those that are given up."""
    grids = []
    for offer in () if choice.unkeepable is None else choice.unkeepable.offers[-1:]:
        names = tuple(map(visible, offer.kept))
        title = f"What can be kept within {budget_words(offer)}"
        grids.append(Grid(title, (Column("control", names, left=True),), ()))
    return (*grids, *([_given_up_grid(choice)] if choice.abandoned else []))


def _given_up_grid(choice: Choice) -> Grid:
    """Return the controls that are given up, with what each costs."""
    rows = choice.abandoned
    digits = decimals([one.cost for one in rows])
    severities = (
        Column("severity", tuple(visible(one.severity) or "-" for one in rows), left=True),
    )
    return Grid(
        "What is given up, and what leaving it out of the whole profile saves",
        (
            Column("control", tuple(visible(one.control) for one in rows), left=True),
            Column("ids", tuple(visible(", ".join(one.ids)) or "-" for one in rows), left=True),
            *(severities if any(one.severity for one in rows) else ()),
        ),
        (
            ColumnGroup(
                "",
                (
                    Column("saves", tuple(signed_number(one.cost, digits) for one in rows)),
                    Column("unit", tuple(visible(one.unit) for one in rows), left=True),
                    Column("on", tuple(visible(one.metric) for one in rows), left=True),
                ),
            ),
        ),
    )


def dearest(choice: Choice) -> list[MetricId]:
    """Return the metrics that the frontier shows: those that the whole profile costs most."""
    ordered = sorted(choice.before, key=lambda one: -one.share)
    shown = {one.metric for one in ordered[:_METRICS]}
    return [one.metric for one in choice.before if one.metric in shown]


def level_words(choice: Choice, level: FrontierLevel) -> str:
    """Return a level of the budget: its one metric's share, or by what all are multiplied."""
    limits = [*choice.budgets.values()]
    if choice.budget is not None or not choice.has_budget:
        limits.append(1.0 if choice.budget is None else choice.budget)
    if len(limits) == 1 and math.isfinite(limits[0]):
        mark = " (yours)" if level.factor == 1 and choice.has_budget else ""
        return f"{percent(limits[0] * level.factor)}{mark}"
    return "yours" if level.factor == 1 else f"yours times {level.factor:g}"


def _different_levels(levels: Sequence[FrontierLevel]) -> list[FrontierLevel]:
    """Return the levels that allow another choice than the one before, and the user's own."""
    return [
        one
        for before, one in zip((None, *levels), levels, strict=False)
        if before is None or one.factor == 1 or one.given_up != before.given_up
    ]


def _columns(levels: Sequence[FrontierLevel], metric: MetricId) -> list[Column]:
    of = [next(one for one in level.costs if one.metric == metric) for level in levels]
    digits = decimals([one.cost for one in of])
    return [
        Column(visible(metric), tuple(map(cost_words, of))),
        Column(
            visible(of[0].unit), tuple(signed_number(one.cost, digits) for one in of), optional=True
        ),
    ]


def _heading(choice: Choice, finding: Advised) -> str:
    where = instrument_and_machine(finding)
    return f"Advice on {visible(choice.profile)}: {choice.controls} controls; {where}"
