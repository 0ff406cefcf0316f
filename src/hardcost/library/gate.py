"""The cost of a change, by line, and whether it is within limits."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path

from hardcost.analysis.bill.budget import Budget
from hardcost.analysis.change.growth import with_limits
from hardcost.analysis.change.runs import gate_of
from hardcost.errors import RequestError
from hardcost.library.bills.budgets import check_metrics
from hardcost.library.gates.measure import MeasuredGate
from hardcost.library.gates.predict import predict_gate
from hardcost.library.gates.sides import GateSide, Profiles, Results, sides
from hardcost.library.measurement import Foreseen, Measuring
from hardcost.measure.monitor import Monitor, Silent
from hardcost.model.finding.change import Gate
from hardcost.model.request import CheckedRequest
from hardcost.profiles.settings import Settings, with_settings

_NO_LIMITS = Budget(None)


@dataclass(frozen=True)
class GateRequest(CheckedRequest):
    """A request for the cost of a change from `base` to `head`: two profiles, or two results.

    Each is a profile, a finding, or the name of a profile or of a run. With `git`, such as
    `main..HEAD`, `base` is a file or folder at two revisions, and `head` is None.

    `limits` say by how much metrics may grow; `strict` has what is over a limit perhaps by chance
    fail, too. `settings` are added to both profiles. With `predict`, nothing is measured; else at
    most `most_lines` changed lines are measured each by itself.
    """

    base: GateSide | Path
    head: GateSide | Path | None = None
    _: KW_ONLY
    git: str | None = None
    limits: Budget = _NO_LIMITS
    strict: bool = False
    settings: Settings = field(default_factory=Settings)
    predict: bool = False
    most_lines: int = 50
    how: Measuring = field(default_factory=Measuring)


def gate(request: GateRequest, monitor: Monitor | None = None) -> Gate:
    """Return the cost of a change, and whether it is within its limits.

    Raises:
        HardcostError: Something is wrong with the input, the machine, a trial or the store.
    """
    GateRequest.expect(request)
    asked = _gate_or_answer(request, monitor or Silent())
    return _apply_limits(asked.gate() if isinstance(asked, MeasuredGate) else asked, request)


def preview(request: GateRequest, monitor: Monitor | None = None) -> Foreseen | Gate:
    """Return the plan of a gate that is not measured, or the answer where nothing would be.

    Raises:
        HardcostError: Something is wrong with the input, the machine or the store.
    """
    asked = _gate_or_answer(request, monitor or Silent())
    return asked.preview() if isinstance(asked, MeasuredGate) else _apply_limits(asked, request)


def _apply_limits(found: Gate, request: GateRequest) -> Gate:
    """Return the answer with its limits."""
    return replace(with_limits(found, request.limits), strict=request.strict)


def _gate_or_answer(request: GateRequest, monitor: Monitor) -> MeasuredGate | Gate:
    """Return the measurement to make, or the answer if none is needed."""
    base = str(request.base) if isinstance(request.base, Path) else request.base
    head = str(request.head) if isinstance(request.head, Path) else request.head
    both = sides(base, head, request.git, request.how, monitor)
    if request.settings and (request.predict or isinstance(both, Results)):
        (field, *_) = request.settings.given
        raise RequestError(f"`{field}` is for profiles that are measured: leave it out")
    if isinstance(both, Results):
        if request.predict:
            raise RequestError("`predict` is for profiles of audit rules, and these are results")
        return gate_of(both.base, both.head, both.names)
    if request.predict:
        return predict_gate(both, request.how.wanted, monitor)
    request.how.check()
    check_metrics(request.limits, request.how.workloads_of_profile, field="limits")
    return MeasuredGate(
        _add_settings(both, request.settings), request.how, request.most_lines, monitor
    )


def _add_settings(both: Profiles, settings: Settings) -> Profiles:
    """Return two profiles with settings added to both."""
    if not settings:
        return both
    base, head = (with_settings(one, settings) for one in (both.base, both.head))
    return replace(both, base=base, head=head)
