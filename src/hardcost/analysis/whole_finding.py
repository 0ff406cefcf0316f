"""Making a finding whole: caveats, resolutions, coverage and derived values, in this order."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar, cast

from hardcost.analysis.bill.coverage import with_coverage
from hardcost.analysis.bill.uncounted import Faults, with_caveats
from hardcost.analysis.bill.weights import control_order
from hardcost.analysis.estimates.geometric_mean import mean_penalties
from hardcost.analysis.estimates.single_draws import with_resolutions
from hardcost.analysis.study.published import published_figures
from hardcost.analysis.study.published_pairs import figures
from hardcost.analysis.study.steps import changes
from hardcost.controls.control import Control
from hardcost.model.finding.bill import Bill, Bills, Item, Itemised
from hardcost.model.finding.failure import Failure
from hardcost.model.finding.finding import Finding
from hardcost.model.finding.head import Score, in_order
from hardcost.model.finding.study import StudyFinding
from hardcost.model.role import Role

_Finding = TypeVar("_Finding", bound=Finding)


@dataclass(frozen=True)
class RunFacts:
    """The facts of a run beside its records.

    `notes_before` and `notes_after` come before and after the finding's own. `boot_controls` were
    set on a boot's command line, and `faults` are what guests answered about them. `configurations`
    are the controls of each role. `resolutions` are relative, by workload.
    """

    machine: str
    environment: dict[str, str]
    configurations: Mapping[Role, Sequence[Control]]
    resolutions: Mapping[str, float]
    notes_before: Sequence[str] = ()
    notes_after: Sequence[str] = ()
    boot_controls: Iterable[Control] = ()
    faults: Faults = field(default_factory=dict)
    scores: dict[Role, Score] = field(default_factory=dict)
    failures: tuple[Failure, ...] = ()


def complete(finding: _Finding, run: RunFacts) -> _Finding:
    """Return a finding with all that is not in its own records."""
    whole: Finding = replace(
        finding,
        machine=run.machine,
        environment=run.environment,
        notes=(*run.notes_before, *finding.notes, *run.notes_after),
        scores=run.scores,
    )
    if isinstance(whole, StudyFinding):
        whole = replace(whole, failures=run.failures)
    whole = with_caveats(whole, run.boot_controls, run.faults)
    whole = with_resolutions(whole, run.resolutions)
    whole = with_coverage(whole, run.configurations)
    return cast("_Finding", with_derived_values(whole))  # of the same class


def with_derived_values(finding: _Finding) -> _Finding:
    """Return a finding with the values that follow from its cells, items and levels.

    A study's are its changes from level to level, published figures beside its own, and mean
    penalties. A bill's items come by their size, and bills of one run have its environment.
    """
    ordered: Finding = replace(finding, environment=in_order(finding.environment))
    return cast("_Finding", _with_derived_values(ordered))  # of the same class


def _with_derived_values(finding: Finding) -> Finding:
    match finding:
        case StudyFinding():
            return _complete_study(finding)
        case Bills():
            own = (
                replace(one, machine=finding.machine, environment=finding.environment)
                for one in finding.bills
            )
            return replace(finding, bills=tuple(replace(one, items=_by_size(one)) for one in own))
        case Bill():
            return replace(finding, items=_by_size(finding))
        case _:
            return finding


def _complete_study(study: StudyFinding) -> StudyFinding:
    has_means = study.source is not None and published_figures(study.source).mean
    return replace(
        study,
        changes=None if study.successive is None else tuple(changes(study)),
        published=figures(study),
        means=mean_penalties(study.cells) if has_means else (),
    )


def _by_size(bill: Itemised) -> tuple[Item, ...]:
    """Return a bill's items, those that cost most first; ties go to the metrics' order."""
    order = control_order(bill)
    metrics = {total.metric: nth for nth, total in enumerate(bill.totals)}

    def largest_first(item: Item) -> tuple[float, int, int]:
        cost = -item.cost if math.isfinite(item.cost) else math.inf
        return cost, metrics.get(item.metric, len(metrics)), order[item.control]

    return tuple(sorted(bill.items, key=largest_first))
