"""A gate as JSON: every metric, every line, with all digits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from hardcost.model.document import Document, IfKnown, Number
from hardcost.model.finding.change import Change, ChangeLine, Gate, Growth, How, HowPart
from hardcost.model.role import Role
from hardcost.model.workload import MetricId
from hardcost.show.sentences.gate import sentences


@dataclass(frozen=True, kw_only=True)
class ChangedLine:
    """A line of the change; `file` is null where its location is not known."""

    file: str | None
    line: int | None
    control: str
    change: Change
    accepted: bool


@dataclass(frozen=True, kw_only=True)
class AddingLine(ChangedLine):
    """The cost of a line on a metric, and how it is `known`: null where it is not, and `why`."""

    adds: Number | None
    low: Number | None
    high: Number | None
    known: IfKnown[HowPart | None] = None
    why: IfKnown[str | None] = None


@dataclass(frozen=True, kw_only=True)
class GrowthDocument:
    """A metric of both states, as `Growth`; `growth` is a part of the earlier value."""

    metric: MetricId
    configuration: Role | None
    unit: str
    base: Number
    head: Number
    difference: Number
    low: Number
    high: Number
    growth: Number
    limit: float | None
    over: bool
    distinguishable: bool
    cost_before: Number | None
    cost_after: Number | None
    lines: tuple[AddingLine, ...]
    rest: Number


@dataclass(frozen=True, kw_only=True)
class FixedCost:
    """The price of having any audit rule, on a metric, if one state alone has some."""

    metric: str
    cost: Number


@dataclass(frozen=True, kw_only=True)
class GateDocument(Document):
    """The JSON of a gate."""

    kind: Literal["gate"] = "gate"
    base: str
    head: str
    how: How
    predicted: bool
    passed: bool
    answer: tuple[str, ...]
    conditions: tuple[str, ...]
    metrics: tuple[GrowthDocument, ...]
    fixed: tuple[FixedCost, ...]
    lines: tuple[ChangedLine, ...]
    without_a_number: tuple[str, ...]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    runs: tuple[str, ...]


def gate_document(gate: Gate) -> GateDocument:
    """Return a gate as its JSON shows it."""
    return GateDocument(
        base=gate.base,
        head=gate.head,
        how=gate.how,
        predicted=gate.how == "predicted",
        passed=not gate.failed,
        answer=tuple(sentences(gate)),
        conditions=gate.conditions,
        metrics=tuple(_growth(one) for one in gate.growths),
        fixed=tuple(
            FixedCost(metric=one.name, cost=one.fixed)
            for one in gate.growths
            if one.fixed is not None
        ),
        lines=tuple(ChangedLine(**_words(line)) for line in gate.lines),
        without_a_number=tuple(map(str, gate.unknown)),
        warnings=gate.warnings,
        notes=gate.notes,
        runs=gate.runs,
    )


def _growth(one: Growth) -> GrowthDocument:
    known = (
        AddingLine(
            **_words(part.line), adds=part.cost, low=part.low, high=part.high, known=part.known
        )
        for part in one.parts
    )
    unknown = (
        AddingLine(**_words(line), adds=None, low=None, high=None, why=why)
        for line, why in one.unpriced
    )
    return GrowthDocument(
        metric=one.metric,
        configuration=one.configuration,
        unit=one.unit,
        base=one.base,
        head=one.head,
        difference=one.difference,
        low=one.low,
        high=one.high,
        growth=one.share,
        limit=one.limit,
        over=one.over,
        distinguishable=one.distinguishable,
        cost_before=one.before,
        cost_after=one.after,
        lines=(*known, *unknown),
        rest=one.rest,
    )


def _words(line: ChangeLine) -> dict[str, Any]:
    file, at = (None, None) if line.place is None else (line.place.file, line.place.line)
    return {
        "file": file,
        "line": at,
        "control": line.control,
        "change": line.change,
        "accepted": line.accepted,
    }
