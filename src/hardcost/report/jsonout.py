"""A finding as JSON: the same bytes for the same finding, keys in the documented order.

Numbers that JSON doesn't know (infinite, not a number) are null. All text is ASCII: whatever is not
is escaped as JSON escapes it, so that no name can act on a terminal.
"""

from __future__ import annotations

import dataclasses
import json
import math
from typing import TYPE_CHECKING

from hardcost.analysis.means import mean_penalties
from hardcost.report.beside import figures
from hardcost.report.comparison import Comparison, Pair, compared
from hardcost.report.ledger import control_order
from hardcost.report.published import published
from hardcost.report.tables.several_table import bills_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hardcost.analysis.finding import (
        Advice,
        Bill,
        Cell,
        Finding,
        Item,
        ObservedIn,
        Sum,
        Total,
    )
    from hardcost.analysis.means import MeanPenalty
    from hardcost.report.beside import Figure

_Object = dict[str, object]

_FACTS = ("qemu", "kernel", "cpu_model", "host")
"""The parts of an environment that come first; others follow by name."""


def to_json(finding: Finding) -> str:
    """Return a run or bill as JSON, one line for each cell, without a newline at the end.

    Several bills are the elements of `bills`, each as a bill of its own with its `profile`.
    """
    document = _document(finding)
    if finding.together is not None:
        document["common"] = list(finding.together.common)
        document["shared_baseline"] = finding.together.shared
        document["bills"] = [
            {"profile": one.bill.profile if one.bill else None, **_document(one)}
            for one in bills_of(finding)
        ]
    return _dumped(document)


def _document(finding: Finding) -> _Object:
    """Return a run or bill by the keys of its JSON."""
    document = _head(finding)
    document["cells"] = [_cell(cell) for cell in finding.cells]
    document["notes"] = list(finding.notes)
    if finding.bill is not None:
        document.update(_bill(finding.bill))
    if finding.advice is not None:
        document["advice"] = _advice(finding.advice)
    if finding.search is not None:
        document["search"] = dataclasses.asdict(finding.search)
    if finding.scores:
        document["scores"] = {name: dataclasses.asdict(of) for name, of in finding.scores.items()}
    document.update(_beside(finding))
    return document


def _beside(finding: Finding) -> _Object:
    """Return what stands beside the cells, without keys that would be empty.

    `failures` are the trials that have no cells; `observed` what riding instruments saw, trial by
    trial; `published` each published figure with ours; `means` the mean penalty of each
    configuration by workload, null for all.
    """
    lists = {
        "failures": [dataclasses.asdict(failure) for failure in finding.failures],
        "observed": [_observed(one) for one in finding.observed],
        "published": [_figure(figure, finding.published) for figure in figures(finding)],
        "means": [_mean(mean) for mean in _means(finding)],
    }
    return {key: entries for key, entries in lists.items() if entries}


def _means(finding: Finding) -> Sequence[MeanPenalty]:
    wanted = finding.published is not None and published(finding.published).mean
    return mean_penalties(finding.cells) if wanted else ()


def _mean(mean: MeanPenalty) -> _Object:
    return {**dataclasses.asdict(mean), "ratio": _finite(mean.ratio)}


def _figure(figure: Figure, source: str | None) -> _Object:
    return {"source": source, **dataclasses.asdict(figure)}


def _observed(one: ObservedIn) -> _Object:
    seen = one.observed
    return {
        "configuration": one.configuration,
        "workload": one.workload,
        "seed": one.seed,
        "repetition": one.repetition,
        "instrument": seen.instrument,
        "unit": seen.unit_of_totals,
        "totals": {name: _finite(value) for name, value in seen.totals.items()},
        "times": [_finite(time) for time in seen.times],
        "series": {name: [_finite(v) for v in values] for name, values in seen.series.items()},
        "steps": [
            {
                "name": step.name,
                "begin": _finite(step.begin),
                "end": _finite(step.end),
                "measured": step.is_measured,
                "operations": step.operations,
            }
            for step in seen.steps
        ],
        "own_ticks": _finite(seen.own_ticks),
    }


def compare_json(a: Finding, b: Finding) -> str:
    """Return run `b` as JSON with run `a` as its baseline.

    The keys are those of `to_json`: a cell's `baseline` is the name of run `a`, `difference` and
    `ratio` compare b's value with a's, and `before` holds a's value with its interval. `ratio_low`
    and `ratio_high` are the widest that both intervals allow. Then follow `compared_to` (the
    environment of run `a`), `only_before` and `only_after` (cells that one run lacks) and
    `warnings` (why the numbers may not be comparable; empty if they are).
    """
    comparison = compared(a, b)
    document = _head(b)
    document["cells"] = [_pair(pair, a.run) for pair in comparison.pairs]
    document["notes"] = list(b.notes)
    document["compared_to"] = _head(a)
    document.update(_only(comparison))
    document["warnings"] = list(comparison.warnings)
    return _dumped(document)


def _only(comparison: Comparison) -> _Object:
    return {
        "only_before": [_cell(cell) for cell in comparison.only_a],
        "only_after": [_cell(cell) for cell in comparison.only_b],
    }


def _head(finding: Finding) -> _Object:
    return {
        "run": finding.run,
        "study": finding.study,
        "machine": finding.machine,
        "instrument": finding.instrument,
        "environment": dict(sorted(finding.environment.items(), key=_known_first)),
    }


def _known_first(fact: tuple[str, str]) -> tuple[int, str]:
    name, _ = fact
    return _FACTS.index(name) if name in _FACTS else len(_FACTS), name


def _cell(cell: Cell) -> _Object:
    several = len(cell.each) > 1
    return {
        "configuration": cell.configuration,
        "workload": cell.workload,
        "metric": cell.metric,
        "unit": str(cell.unit),
        "value": _finite(cell.value),
        "low": _finite(cell.low),
        "high": _finite(cell.high),
        "trials": cell.trials,
        "baseline": cell.baseline,
        "ratio": _finite(cell.ratio),
        "ratio_low": _finite(cell.ratio_low),
        "ratio_high": _finite(cell.ratio_high),
        "minimum": _finite(cell.minimum),
        "difference": _finite(cell.difference),
        **({"each": [_finite(value) for value in cell.each]} if several else {}),
        **({"resolution": cell.resolution} if cell.resolution else {}),
    }


def _pair(pair: Pair, baseline: str) -> _Object:
    document = _cell(pair.b)
    document["baseline"] = baseline
    document["ratio"] = _finite(pair.ratio)
    document["ratio_low"] = _finite(pair.ratio_low)
    document["ratio_high"] = _finite(pair.ratio_high)
    document["difference"] = _finite(pair.difference)
    document["before"] = {
        "value": _finite(pair.a.value),
        "low": _finite(pair.a.low),
        "high": _finite(pair.a.high),
        "trials": pair.a.trials,
    }
    return document


def _bill(bill: Bill) -> _Object:
    order = control_order(bill)
    metrics = {total.metric: nth for nth, total in enumerate(bill.totals)}

    def largest_first(item: Item) -> tuple[float, int, int]:
        cost = -item.cost if math.isfinite(item.cost) else math.inf
        return cost, metrics.get(item.metric, len(metrics)), order[item.control]

    return {
        "totals": [_total(total) for total in bill.totals],
        "items": [_item(item) for item in sorted(bill.items, key=largest_first)],
        "rest": [_sum(remainder) for remainder in bill.rest],
        "interaction": [_sum(remainder) for remainder in bill.interaction],
        "least": [
            {"metric": one.metric, "cost": _finite(one.cost), "placebos": one.placebos}
            for one in bill.least
        ],
    }


def _advice(advice: Advice) -> _Object:
    return {
        "budget": advice.budget,
        **({"budgets": advice.budgets} if advice.budgets else {}),
        "within": advice.within,
        "kept": advice.kept,
        "leave_out": list(advice.leave_out),
        "totals": [_total(total) for total in advice.totals],
    }


def _total(total: Total) -> _Object:
    known = total.low is not None and total.high is not None
    return {
        "metric": total.metric,
        "unit": str(total.unit),
        "baseline": _finite(total.baseline),
        "with_profile": _finite(total.with_profile),
        "cost": _finite(total.cost),
        "distinguishable": total.distinguishable,
        **({"low": _finite(total.low or 0.0), "high": _finite(total.high or 0.0)} if known else {}),
    }


def _item(item: Item) -> _Object:
    more: _Object = {}
    if item.predicted is not None:
        more["predicted"] = _finite(item.predicted)
    if item.findings:
        more["findings"] = list(item.findings)
    if item.ids:
        more["ids"] = list(item.ids)
    if item.caveat:
        more["caveat"] = item.caveat
    return {
        "control": item.control,
        "metric": item.metric,
        "cost": _finite(item.cost),
        "low": _finite(item.low),
        "high": _finite(item.high),
        "share": _finite(item.share),
        "alone": _finite(item.alone),
        "fired": item.fired,
        "place": item.place,
        **more,
    }


def _sum(remainder: Sum) -> _Object:
    return {"metric": remainder.metric, "cost": _finite(remainder.cost)}


def _finite(value: float) -> float | None:
    """Return `value` as a float that JSON can hold; adding 0 turns -0 into 0."""
    return float(value) + 0.0 if math.isfinite(value) else None


def _dumped(document: Mapping[str, object]) -> str:
    """Return JSON with a line for each key, and for each element of a list."""
    entries = [f"{_compact(key)}: {_value(value)}" for key, value in document.items()]
    return "{\n" + ",\n".join(f"  {entry}" for entry in entries) + "\n}"


def _value(value: object) -> str:
    if not isinstance(value, list) or not value:
        return _compact(value)
    return "[\n" + ",\n".join(f"    {_compact(element)}" for element in value) + "\n  ]"


def _compact(value: object) -> str:
    return json.dumps(value, allow_nan=False)
