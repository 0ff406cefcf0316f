"""A gate as JSON: every metric, every line, with all digits."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

from hardcost.report.sentences.gatewords import sentences

if TYPE_CHECKING:
    from hardcost.analysis.growth import Gate, Growth, Line, Part


def gate_json(gate: Gate) -> str:
    """Return a gate as JSON, in ASCII; numbers that JSON doesn't know are null."""
    document = {
        "base": gate.base,
        "head": gate.head,
        "how": gate.how,
        "predicted": gate.how == "predicted",
        "passed": not gate.failed,
        "answer": list(sentences(gate)),
        "conditions": list(gate.conditions),
        "metrics": [_growth(one) for one in gate.growths],
        "fixed": [
            {"metric": one.name, "cost": _number(one.fixed)}
            for one in gate.growths
            if one.fixed is not None
        ],
        "lines": [_line(line) for line in gate.lines],
        "without_a_number": list(gate.unknown),
        "warnings": list(gate.warnings),
        "notes": list(gate.notes),
        "runs": list(gate.runs),
    }
    return json.dumps(document, indent=2, allow_nan=False)


def _growth(one: Growth) -> dict[str, object]:
    return {
        "metric": one.metric,
        "configuration": one.configuration or None,
        "unit": one.unit,
        "base": _number(one.base),
        "head": _number(one.head),
        "difference": _number(one.difference),
        "low": _number(one.low),
        "high": _number(one.high),
        "growth": _number(one.share),
        "limit": one.limit,
        "over": one.over,
        "distinguishable": one.distinguishable,
        "cost_before": None if one.before is None else _number(one.before),
        "cost_after": None if one.after is None else _number(one.after),
        "lines": [*map(_part, one.parts), *(_unpriced(*each) for each in one.unpriced)],
        "rest": _number(one.rest),
    }


def _part(part: Part) -> dict[str, object]:
    return {
        **_line(part.line),
        "adds": _number(part.cost),
        "low": _number(part.low),
        "high": _number(part.high),
    }


def _unpriced(line: Line, why: str) -> dict[str, object]:
    return {**_line(line), "adds": None, "low": None, "high": None, "why": why}


def _line(line: Line) -> dict[str, object]:
    return {
        "file": line.file or None,
        "line": line.line,
        "control": line.control,
        "change": line.change.value,
        "accepted": line.accepted,
    }


def _number(value: float) -> float | None:
    return value + 0.0 if math.isfinite(value) else None
