"""Results as one long table: a row for each number, with its provenance.

The columns are the same for runs, bills, comparisons and whole stores; docs/data.md lists them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from hardcost.errors import InputError
from hardcost.model.finding.bill import Bill, Bills, Item, Sum, Total
from hardcost.model.finding.cell import Cell
from hardcost.model.finding.change import Gate
from hardcost.model.finding.comparison import Comparison
from hardcost.model.finding.head import Found, Head

RowKind = Literal[
    "cell",
    "total",
    "item",
    "small",
    "fixed",
    "rest",
    "interaction",
    "changed",
    "only-before",
    "only-after",
    "trial",
]


@dataclass(frozen=True)
class Row:
    """A number and its provenance; a field that does not apply is None.

    Texts are as they were found: whoever writes them escapes them.
    """

    run: str
    kind: RowKind
    study: str | None = None
    started: str | None = None
    machine: str | None = None
    instrument: str | None = None
    kernel: str | None = None
    qemu: str | None = None
    cpu_model: str | None = None
    profile: str | None = None
    configuration: str | None = None
    control: str | None = None
    place: str | None = None
    workload: str | None = None
    metric: str | None = None
    unit: str | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    minimum: float | None = None
    trials: int | None = None
    baseline: str | None = None
    baseline_value: float | None = None
    difference: float | None = None
    ratio: float | None = None
    ratio_low: float | None = None
    ratio_high: float | None = None
    share: float | None = None
    alone: float | None = None
    known: str | None = None
    groups: int | None = None
    smallest_group: int | None = None
    fired: int | None = None
    predicted: float | None = None
    least: float | None = None
    seed: int | None = None
    repetition: int | None = None
    samples: int | None = None
    lost: int | None = None
    host_seconds: float | None = None


MEANINGS = {
    "run": "the run's name",
    "kind": "what the row is: see below",
    "study": "the study's name, or the bill's",
    "started": "when the run began, UTC, ISO 8601; in `export runs` alone",
    "machine": "where it ran, such as vm",
    "instrument": "insn or time",
    "kernel": "the release of the kernel that was measured",
    "qemu": "QEMU's version",
    "cpu_model": "QEMU's processor model",
    "profile": "the profile that a bill is of",
    "configuration": "what was on, such as `rules=160`",
    "control": "the control of a bill that a number is of",
    "place": "the control's file and line",
    "workload": "what was run",
    "metric": "what was measured, such as open",
    "unit": "the unit of all numbers of the row that are neither counts nor shares nor ratios",
    "value": "the number itself: see below",
    "low": "the lower end of its 95 % interval",
    "high": "the upper end of its 95 % interval",
    "minimum": "the smallest sample",
    "trials": "the number of trials",
    "baseline": "what it is compared with: a configuration, or the earlier run",
    "baseline_value": "the value there",
    "difference": "value less baseline_value; of a cost, the cost itself",
    "ratio": "value over baseline_value, paired by seed",
    "ratio_low": "the lower end of the ratio's interval",
    "ratio_high": "the upper end of the ratio's interval",
    "share": "a control's part of the total cost",
    "alone": "what a control costs by itself; empty where it was not measured alone",
    "known": "how a control's cost is known: measured by leaving it out, or verified: predicted,"
    " and confirmed by leaving out groups of controls with it",
    "groups": "of a verified cost: how many groups confirmed it",
    "smallest_group": "of a verified cost: the number of controls in the smallest of these groups",
    "fired": "audit records that a control or a trial caused",
    "predicted": "what the cost model predicts for an audit rule; a prediction, not a measurement",
    "least": "the size up to which a total, or a difference, is not distinguishable from chance",
    "seed": "the seed of a trial's memory layout",
    "repetition": "the number of a trial's repetition or perturbation",
    "samples": "the number of a trial's samples",
    "lost": "audit events that were lost in a trial",
    "host_seconds": "the host time that a trial took, in seconds; no measurement of the guest",
}
"""The meaning of each column, in their order."""


_COUNTS = ("trials", "fired", "groups", "smallest_group")


def rows(found: Found | Comparison | Gate, started: str | None = None) -> Iterator[Row]:
    """Return the rows of a finding, or of a comparison.

    Raises:
        InputError: It is a gate, which has none.
    """
    match found:
        case Gate():
            raise InputError("a gate has no rows", hint="its `growths` are the metrics")
        case Comparison():
            return _of_comparison(found)
        case _:
            return _of_finding(found, started)


def _of_finding(finding: Found, started: str | None) -> Iterator[Row]:
    head = replace(_head(finding), started=started)
    for cell in finding.cells:
        yield _of_cell(head, cell)
    for one in finding.bills if isinstance(finding, Bills) else (finding,):
        if isinstance(one, Bill):
            yield from _of_bill(head, one)


def _of_comparison(found: Comparison) -> Iterator[Row]:
    """Yield the rows of a run with an earlier one as its baseline, and of what only one has."""
    head = _head(found)
    for cell in found.cells:
        yield replace(
            _of_cell(head, cell), kind="changed", baseline_value=_number(cell.before.value)
        )
    for one in found.only_before:
        yield replace(_of_cell(_head(found.compared_to), one), kind="only-before")
    for one in found.only_after:
        yield replace(_of_cell(head, one), kind="only-after")


def _head(finding: Head) -> Row:
    about = finding.environment
    return Row(
        run=finding.run,
        kind="cell",
        study=finding.study,
        machine=finding.machine,
        instrument=finding.instrument,
        kernel=about.get("kernel"),
        qemu=about.get("qemu"),
        cpu_model=about.get("cpu_model"),
    )


def _of_cell(head: Row, cell: Cell) -> Row:
    before = _number(cell.value - cell.difference)
    return _fill_row(head, "cell", cell, baseline_value=before, least=_number(cell.least or None))


def _of_bill(head: Row, bill: Bill) -> Iterator[Row]:
    head = replace(head, profile=bill.profile)
    units = {total.metric: str(total.unit) for total in bill.totals}
    for total in bill.totals:
        before = _number(total.baseline)
        yield _of_cost(head, "total", total, baseline=None, baseline_value=before)
    for item in bill.items:
        yield _of_cost(head, "item", item, place=_place(item))
    for item in bill.small:
        yield _of_small(head, item, known=item.control not in bill.unshown)
    parts: dict[RowKind, tuple[Sum, ...]] = {
        "fixed": bill.fixed,
        "rest": bill.rest,
        "interaction": bill.interaction,
    }
    for kind, sums in parts.items():
        for one in sums:
            yield _of_cost(head, kind, one, unit=units.get(one.metric))


def _of_small(head: Row, item: Item, *, known: bool) -> Row:
    """Return the row of a control whose cost is part of the rest; empty where it is not known."""
    row = _of_cost(head, "small", item, place=_place(item), share=None)
    if known:
        return row
    return replace(row, value=None, low=None, high=None, difference=None, alone=None)


def _of_cost(head: Row, kind: RowKind, of: Total | Item | Sum, **own: Any) -> Row:  # noqa: ANN401  (columns)
    cost = _number(of.cost)
    return _fill_row(head, kind, of, value=cost, difference=cost, **own)


def _fill_row(head: Row, kind: RowKind, of: Cell | Total | Item | Sum, **own: Any) -> Row:  # noqa: ANN401  (columns)
    """Return a row with the fields of a value that are called as columns are, and `own`."""
    shared = (one.name for one in fields(of) if one.name in MEANINGS and one.name not in own)
    known: dict[str, Any] = {name: _plain(name, getattr(of, name)) for name in shared}
    return replace(head, kind=kind, **known, **own)


def _plain(name: str, value: Any) -> Any:  # noqa: ANN401  (any field's)
    """Return a field as data has it: counts as they are, numbers finite, all else as text."""
    if name in _COUNTS or value is None:
        return value
    return _number(value) if isinstance(value, int | float) else str(value)


def _place(item: Item) -> str | None:
    return None if item.place is None else str(item.place)


def _number(value: float | None) -> float | None:
    """Return a number as data has it: none where it is infinite or not a number."""
    return None if value is None or not math.isfinite(value) else float(value) + 0.0
