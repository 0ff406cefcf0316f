"""Results as one long table: a row for each number, with all that says what it is.

The columns are the same for runs, bills, comparisons and whole stores; docs/data.md lists them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from hardcost.report.comparison import compared
from hardcost.report.tables.several_table import bills_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hardcost.analysis.finding import Bill, Cell, Finding, Item, Total

Kind = Literal[
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
    """A number and its provenance; what does not apply is None.

    Texts are as they were found: whoever writes them escapes them.
    """

    run: str
    kind: Kind
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
    "alone": "what a control costs by itself",
    "fired": "audit records that a control or a trial caused",
    "predicted": "what the cost model predicts for an audit rule; a prediction, not a measurement",
    "least": "the size up to which a total, or a difference, is not distinguishable from chance",
    "seed": "the seed of a trial's memory layout",
    "repetition": "the number of a trial's repetition or perturbation",
    "samples": "the number of a trial's samples",
    "lost": "audit events that were lost in a trial",
    "host_seconds": "the host time that a trial took, in seconds; no measurement of the guest",
}
"""What each column is, in the order of the columns."""


def rows(finding: Finding, started: str | None = None) -> Iterator[Row]:
    """Yield the rows of a run, of a bill, or of several bills."""
    head = replace(_head(finding), started=started)
    for cell in finding.cells:
        yield _of_cell(head, cell)
    bills = bills_of(finding) if finding.together is not None else (finding,)
    for one in bills:
        if one.bill is not None:
            yield from _of_bill(head, one.bill)


def compared_rows(a: Finding, b: Finding) -> Iterator[Row]:
    """Yield the rows of run `b` with run `a` as its baseline, and of what only one has."""
    comparison = compared(a, b)
    head = _head(b)
    for pair in comparison.pairs:
        yield replace(
            _of_cell(head, pair.b),
            kind="changed",
            baseline=a.run,
            baseline_value=_number(pair.a.value),
            difference=_number(pair.difference),
            ratio=_number(pair.ratio),
            ratio_low=_number(pair.ratio_low),
            ratio_high=_number(pair.ratio_high),
            least=_number(pair.least or None),
        )
    for cell in comparison.only_a:
        yield replace(_of_cell(_head(a), cell), kind="only-before")
    for cell in comparison.only_b:
        yield replace(_of_cell(head, cell), kind="only-after")


def _head(finding: Finding) -> Row:
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
    return replace(
        head,
        configuration=cell.configuration,
        workload=cell.workload,
        metric=cell.metric,
        unit=str(cell.unit),
        value=_number(cell.value),
        low=_number(cell.low),
        high=_number(cell.high),
        minimum=_number(cell.minimum),
        trials=cell.trials,
        baseline=cell.baseline,
        baseline_value=_number(cell.value - cell.difference),
        difference=_number(cell.difference),
        ratio=_number(cell.ratio),
        ratio_low=_number(cell.ratio_low),
        ratio_high=_number(cell.ratio_high),
        least=_number(cell.least or None),
    )


def _of_bill(head: Row, bill: Bill) -> Iterator[Row]:
    head = replace(head, profile=bill.profile)
    units = {total.metric: str(total.unit) for total in bill.totals}
    for total in bill.totals:
        yield _of_total(head, total)
    for item in bill.items:
        yield _of_item(head, item)
    for item in bill.small:
        yield _of_small(head, item, known=item.control not in bill.unshown)
    for kind, sums in (
        ("fixed", bill.fixed),
        ("rest", bill.rest),
        ("interaction", bill.interaction),
    ):
        for one in sums:
            yield replace(
                head,
                kind=kind,  # type: ignore[arg-type]  # all are kinds
                metric=one.metric,
                unit=units.get(one.metric),
                value=_number(one.cost),
                difference=_number(one.cost),
            )


def _of_total(head: Row, total: Total) -> Row:
    return replace(
        head,
        kind="total",
        metric=total.metric,
        unit=str(total.unit),
        value=_number(total.cost),
        low=_number(total.low),
        high=_number(total.high),
        baseline_value=_number(total.baseline),
        difference=_number(total.cost),
        least=_number(total.least),
    )


def _of_item(head: Row, item: Item) -> Row:
    return replace(
        head,
        kind="item",
        control=item.control,
        place=item.place or None,
        metric=item.metric,
        unit=str(item.unit),
        value=_number(item.cost),
        low=_number(item.low),
        high=_number(item.high),
        difference=_number(item.cost),
        share=_number(item.share),
        alone=_number(item.alone),
        fired=item.fired,
        predicted=_number(item.predicted),
    )


def _of_small(head: Row, item: Item, *, known: bool) -> Row:
    """Return the row of a control whose cost is part of the rest; empty where it is not known."""
    row = replace(_of_item(head, item), kind="small", share=None)
    if known:
        return row
    return replace(row, value=None, low=None, high=None, difference=None, alone=None)


def _number(value: float | None) -> float | None:
    """Return a number as data has it: none where it is infinite or not a number."""
    return None if value is None or not math.isfinite(value) else float(value) + 0.0
