"""A finding as JSON: the same bytes for the same finding, keys in the documented order.

`jsonkeys.py` has the keys. All text is ASCII: whatever is not is escaped as JSON escapes it, so
that no name can act on a terminal.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

from hardcost.analysis import bothways
from hardcost.analysis.means import mean_penalties
from hardcost.report.beside import figures
from hardcost.report.comparison import Comparison, Pair, compared
from hardcost.report.jsonkeys import (
    AccountedEntry,
    AdviceEntry,
    BeforeEntry,
    BesideKeys,
    BillKeys,
    BothEntry,
    CellEntry,
    ChangeEntry,
    ChoiceEntry,
    ComparisonDocument,
    FailureEntry,
    FigureEntry,
    Head,
    ItemEntry,
    LeastEntry,
    MeanEntry,
    ObservedEntry,
    PairEntry,
    ScoreEntry,
    SearchEntry,
    StepEntry,
    SumEntry,
    TotalEntry,
    UnmeasuredEntry,
)
from hardcost.report.ledger import control_order
from hardcost.report.profilekeys import (
    ByControlEntry,
    OwnEntry,
    ProfileEntry,
    TraceEntry,
)
from hardcost.report.published import published
from hardcost.report.sentences import bothwords
from hardcost.report.successive import Change, changes
from hardcost.report.tables.several_table import bills_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hardcost.analysis.finding import Bill, ControlProfiled, Finding, Item, ObservedIn
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
    document = _head(finding).model_dump()
    document["cells"] = [CellEntry.model_validate(cell).model_dump() for cell in finding.cells]
    document["notes"] = list(finding.notes)
    if finding.bill is not None:
        document.update(_bill(finding.bill).model_dump() | _both(finding))
    if finding.advice is not None:
        document["advice"] = AdviceEntry.model_validate(finding.advice).model_dump()
    if finding.choice is not None:
        document["choice"] = ChoiceEntry.model_validate(finding.choice).model_dump()
    if finding.search is not None:
        document["search"] = SearchEntry.model_validate(finding.search).model_dump()
    if finding.scores:
        document["scores"] = {
            name: ScoreEntry.model_validate(of).model_dump() for name, of in finding.scores.items()
        }
    if finding.successive is not None:
        document["changes"] = [_changed(one).model_dump() for one in changes(finding)]
    if finding.profiles:
        document["profiles"] = [
            ProfileEntry.model_validate(one).model_dump() for one in finding.profiles
        ]
    if finding.traces:
        document["traces"] = [TraceEntry.model_validate(one).model_dump() for one in finding.traces]
    if finding.by_control:
        document["by_control"] = [_of_control(one).model_dump() for one in finding.by_control]
    document.update(_beside(finding).model_dump())
    return document


def _changed(one: Change) -> ChangeEntry:
    return ChangeEntry(
        state=one.state,
        workload=one.pair.b.workload,
        metric=one.pair.b.metric,
        unit=one.pair.b.unit,
        before=one.before,
        after=one.after,
        difference=one.pair.difference,
        ratio=one.pair.ratio,
        least=one.pair.least,
    )


def _of_control(one: ControlProfiled) -> ByControlEntry:
    moved = [function for function in one.profiled.functions if function.own]
    return ByControlEntry(
        control=one.control,
        place=one.place,
        metric=one.profiled.metric,
        cost=one.profiled.cost,
        functions=tuple(OwnEntry(function=it.function, own=it.own) for it in moved),
    )


def _beside(finding: Finding) -> BesideKeys:
    """Return what stands beside the cells.

    `failures` are the trials that have no cells; `observed` what recorders saw, trial by
    trial; `published` each published figure with ours; `means` the mean penalty of each
    configuration by workload, null for all.
    """
    return BesideKeys(
        failures=tuple(FailureEntry.model_validate(failure) for failure in finding.failures),
        observed=tuple(_observed(one) for one in finding.observed),
        published=tuple(_figure(figure, finding.published) for figure in figures(finding)),
        means=tuple(MeanEntry.model_validate(mean) for mean in _means(finding)),
    )


def _means(finding: Finding) -> Sequence[MeanPenalty]:
    wanted = finding.published is not None and published(finding.published).mean
    return mean_penalties(finding.cells) if wanted else ()


def _figure(figure: Figure, source: str | None) -> FigureEntry:
    return FigureEntry.model_validate({"source": source, **vars(figure)})


def _observed(one: ObservedIn) -> ObservedEntry:
    seen = one.observed
    return ObservedEntry(
        configuration=one.configuration,
        workload=one.workload,
        seed=one.seed,
        repetition=one.repetition,
        instrument=seen.instrument,
        unit=seen.unit_of_totals,
        totals=seen.totals,
        times=seen.times,
        series=seen.series,
        steps=tuple(StepEntry.model_validate(step) for step in seen.steps),
        own_ticks=seen.own_ticks,
    )


def compare_json(a: Finding, b: Finding) -> str:
    """Return run `b` as JSON with run `a` as its baseline.

    The keys are those of `to_json`: a cell's `baseline` is the name of run `a`, `difference` and
    `ratio` compare b's value with a's, and `before` holds a's value with its interval. `ratio_low`
    and `ratio_high` are the widest that both intervals allow. Then follow `compared_to` (the
    environment of run `a`), `only_before` and `only_after` (cells that one run lacks) and
    `warnings` (why the numbers may not be comparable; empty if they are).
    """
    comparison: Comparison = compared(a, b)
    document = ComparisonDocument(
        **dict(_head(b)),
        cells=tuple(_pair(pair, a.run) for pair in comparison.pairs),
        notes=b.notes,
        compared_to=_head(a),
        only_before=tuple(CellEntry.model_validate(cell) for cell in comparison.only_a),
        only_after=tuple(CellEntry.model_validate(cell) for cell in comparison.only_b),
        warnings=tuple(comparison.warnings),
    )
    return _dumped(document.model_dump())


def _head(finding: Finding) -> Head:
    return Head(
        run=finding.run,
        study=finding.study,
        machine=finding.machine,
        instrument=finding.instrument,
        environment=dict(sorted(finding.environment.items(), key=_known_first)),
    )


def _known_first(fact: tuple[str, str]) -> tuple[int, str]:
    name, _ = fact
    return _FACTS.index(name) if name in _FACTS else len(_FACTS), name


def _pair(pair: Pair, baseline: str) -> PairEntry:
    own = dict(CellEntry.model_validate(pair.b)) | {
        "baseline": baseline,
        "ratio": pair.ratio,
        "ratio_low": pair.ratio_low,
        "ratio_high": pair.ratio_high,
        "difference": pair.difference,
        "least": pair.least,
    }
    return PairEntry(**own, before=BeforeEntry.model_validate(pair.a))


def _bill(bill: Bill) -> BillKeys:
    order = control_order(bill)
    metrics = {total.metric: nth for nth, total in enumerate(bill.totals)}

    def largest_first(item: Item) -> tuple[float, int, int]:
        cost = -item.cost if math.isfinite(item.cost) else math.inf
        return cost, metrics.get(item.metric, len(metrics)), order[item.control]

    return BillKeys(
        totals=tuple(TotalEntry.model_validate(total) for total in bill.totals),
        items=tuple(
            ItemEntry.model_validate(item) for item in sorted(bill.items, key=largest_first)
        ),
        fixed=tuple(SumEntry.model_validate(one) for one in bill.fixed),
        rest=tuple(SumEntry.model_validate(remainder) for remainder in bill.rest),
        interaction=tuple(SumEntry.model_validate(remainder) for remainder in bill.interaction),
        least=tuple(LeastEntry.model_validate(one) for one in bill.least),
        accounting=tuple(AccountedEntry.model_validate(one) for one in bill.accounting),
        unmeasured=tuple(UnmeasuredEntry.model_validate(one) for one in bill.unmeasured),
    )


def _both(finding: Finding) -> _Object:
    """Return both numbers of each cost, and where instructions were counted, if they were."""
    bills, counted = bothwords.bills_of(finding), finding.counted
    if counted is None:
        return {}
    found = () if bills is None else (*bothways.wholes(*bills), *bothways.controls(*bills))
    return {
        "both": [BothEntry.model_validate(one).model_dump() for one in found],
        "counted_on": {"machine": counted.machine, **counted.environment},
    }


def _dumped(document: Mapping[str, object]) -> str:
    """Return JSON with a line for each key, and for each element of a list."""
    entries = [f"{_compact(key)}: {_value(value)}" for key, value in document.items()]
    return "{\n" + ",\n".join(f"  {entry}" for entry in entries) + "\n}"


def _value(value: object) -> str:
    if not isinstance(value, list | tuple) or not value:
        return _compact(value)
    return "[\n" + ",\n".join(f"    {_compact(element)}" for element in value) + "\n  ]"


def _compact(value: object) -> str:
    return json.dumps(value, allow_nan=False)
