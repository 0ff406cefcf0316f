"""A gate as a summary in Markdown, for the page of a CI job or a comment."""

from __future__ import annotations

from collections.abc import Sequence

from hardcost.model.finding.change import Gate, Growth
from hardcost.show.exports.export import Export
from hardcost.show.exports.markdown import code, escape_text, table
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

_MOST_LINES = 50


def gate_markdown(gate: Gate) -> str:
    """Return the answer, the metrics that changed, the lines of the change, and the conditions."""
    state = "failed" if gate.failed else "passed"
    parts = [
        f"### hardcost gate: {state} ({gate.how})",
        escape_text(title(gate)),
        "\n".join(f"- {escape_text(one)}" for one in sentences(gate)),
    ]
    if gate.changed:
        parts.append(_metrics(gate.changed))
    if gate.counted or gate.any_rule is not None:
        parts.append(_lines(gate))
    parts.append("\n".join(f"- {escape_text(one)}" for one in conditions(gate)))
    return "\n\n".join(parts) + "\n"


def _metrics(shown: Sequence[Growth]) -> str:
    header = ("metric", "unit", "before", "after", "difference", "growth", "limit", "")
    rows = [
        (
            code(one.name),
            escape_text(one.unit),
            amount(one, one.base, with_sign=False),
            amount(one, one.head, with_sign=False),
            amount(one, one.difference),
            growth_percent(one),
            limit(one),
            f"**{verdict(one)}**" if one.over else verdict(one),
        )
        for one in shown
    ]
    return table(header, rows, right=range(2, 7))


def _lines(gate: Gate) -> str:
    rows = []
    paid = gate.any_rule
    if paid is not None:
        adds = f"{amount(paid, paid.fixed or 0.0)} {escape_text(paid.unit)} to {code(paid.name)}"
        rows.append(("", "", ANY_RULE, adds))
    for line in gate.counted[:_MOST_LINES]:
        growth, part = gate.parts_of(line)[0]
        adds = f"{amount(growth, part.cost)} {escape_text(growth.unit)} to {code(growth.name)}"
        rows.append((line.change.value, code(str(line.place or "")), code(line.control), adds))
    return table(("", "place", "line", f"adds ({gate.how})"), rows)


MARKDOWN = Export("markdown", gate_markdown)
