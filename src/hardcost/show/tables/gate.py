"""A gate on a terminal: metrics that changed, with both states' costs, and the change's lines."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import ConsoleRenderable

from hardcost.model.finding.change import ChangeLine, Gate, Growth
from hardcost.show.sentences.gate import (
    ANY_RULE,
    amount,
    conditions,
    growth_percent,
    limit,
    sentences,
    title,
    verdict,
)
from hardcost.show.tables.layout import (
    Column,
    ColumnGroup,
    Grid,
    GridText,
    Layout,
    Prose,
    RowText,
    TextLines,
)
from hardcost.show.text import ABSENT
from hardcost.units import count, visible

_MOST_LINES = 30


def gate_table(gate: Gate) -> ConsoleRenderable:
    """Return a gate's finding: the answer, the metrics, the lines, and the numbers' meaning."""
    shown = tuple(one for one in gate.growths if one.difference or one.exceeds)
    same = len(gate.growths) - len(shown)
    parts: list[ConsoleRenderable] = [
        TextLines(sentences(gate)),
        Prose(title(gate), "bold"),
        *(GridText(grid) for grid in grids(gate, shown)),
    ]
    if same:
        parts.append(Prose(f"{count(same, 'metric')} did not change."))
    parts.append(TextLines(tuple(conditions(gate))))
    return Layout(tuple(parts))


def grids(gate: Gate, shown: Sequence[Growth]) -> list[Grid]:
    """Return a table of metrics and one of the change's lines; none where nothing changed."""
    found = []
    if shown:
        found.append(_metrics(gate, shown))
    lines = gate.counted
    if lines or gate.any_rule is not None:
        found.append(_lines(gate, lines[:_MOST_LINES], len(lines)))
    return found


def _metrics(gate: Gate, shown: Sequence[Growth]) -> Grid:
    values = [
        Column("before", tuple(amount(one, one.base, with_sign=False) for one in shown)),
        Column("after", tuple(amount(one, one.head, with_sign=False) for one in shown)),
        Column("difference", tuple(amount(one, one.difference) for one in shown)),
        Column("growth", tuple(map(growth_percent, shown))),
        Column("limit", tuple(map(limit, shown))),
        Column("", tuple(map(verdict, shown)), left=True),
    ]
    bills = (
        Column("before", tuple(_cost(one, one.before) for one in shown)),
        Column("after", tuple(_cost(one, one.after) for one in shown)),
    )
    labels = (
        Column("metric", tuple(visible(one.name) for one in shown), left=True),
        Column("unit", tuple(visible(one.unit) for one in shown), left=True),
    )
    groups = [ColumnGroup("", tuple(values))]
    if any(one.before is not None for one in shown):
        groups.append(ColumnGroup(f"what each whole profile costs ({gate.how})", bills))
    return Grid(f"What changed, {gate.how}", labels, tuple(groups))


def _cost(growth: Growth, value: float | None) -> str:
    return ABSENT if value is None else amount(growth, value)


def _lines(gate: Gate, lines: Sequence[ChangeLine], of: int) -> Grid:
    rows = [(growth, part.cost) for growth, part in (gate.parts_of(line)[0] for line in lines)]
    changes = [line.change.value for line in lines]
    texts = [RowText(visible(line.control), visible(line.place or "")) for line in lines]
    if gate.any_rule is not None:
        rows.insert(0, (gate.any_rule, gate.any_rule.fixed or 0.0))
        changes.insert(0, "")
        texts.insert(0, RowText(ANY_RULE, ""))
    more = (f"{of - len(lines)} more lines: --format json lists them all",)
    return Grid(
        f"The lines of the change, {gate.how}: what each adds to the metric that it moves most",
        (
            Column("", tuple(changes), left=True),
            Column("metric", tuple(visible(growth.name) for growth, _ in rows), left=True),
        ),
        (
            ColumnGroup(
                "",
                (
                    Column("adds", tuple(amount(growth, cost) for growth, cost in rows)),
                    Column("unit", tuple(visible(growth.unit) for growth, _ in rows), left=True),
                ),
            ),
        ),
        texts=tuple(texts),
        text_header="line",
        notes=more if of > len(lines) else (),
    )
