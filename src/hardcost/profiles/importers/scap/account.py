"""The outcome of each rule of a SCAP profile: priced, without a run-time cost, or not priced.

Every rule that the profile selects is accounted for exactly once. What no control carries out is
classified by its id (`rule_classes.py`). What no class names is of an unknown kind and not priced:
nothing is called free without a reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from hardcost.controls.control import Control
from hardcost.model.accounts import Accounted, RuleOutcome
from hardcost.profiles.importers.scap.datastream import BenchmarkRule, Selected
from hardcost.profiles.importers.scap.rule_classes import class_of

_UNKNOWN = "unknown kind"


def account_for(
    profile: Selected, controls: Sequence[Control], left_out: Mapping[str, str]
) -> tuple[Accounted, ...]:
    """Return each rule of a profile with what became of it, in the profile's order.

    A control names its rules among its `ids`; `left_out` says why others were not imported.
    """
    by_rule: dict[str, list[Control]] = {}
    for control in controls:
        for name in control.ids:
            by_rule.setdefault(name, []).append(control)
    return tuple(
        _account_for_rule(rule, by_rule.get(rule.name, ()), left_out) for rule in profile.rules
    )


def _account_for_rule(
    rule: BenchmarkRule, controls: Iterable[Control], left_out: Mapping[str, str]
) -> Accounted:
    names = tuple(dict.fromkeys(control.name for control in controls))
    kinds = dict.fromkeys(control.mechanism for control in controls)
    if names:
        return _with(rule, "priced", " and ".join(kinds), controls=names)
    if rule.elsewhere:
        return _with(rule, "not-priced", "other machines", rule.elsewhere)
    known = class_of(rule.name)
    if known is not None:
        outcome: RuleOutcome = "no-run-time-cost" if known.cost == "none" else "not-priced"
        return _with(rule, outcome, known.kind, known.reason)
    if rule.name in left_out:
        return _with(rule, "not-priced", "not imported", left_out[rule.name])
    return _with(rule, "not-priced", _UNKNOWN, "hardcost does not know what such a rule costs")


def _with(
    rule: BenchmarkRule,
    outcome: RuleOutcome,
    kind: str,
    why: str = "",
    controls: tuple[str, ...] = (),
) -> Accounted:
    return Accounted(rule.name, rule.title, rule.severity, rule.ids, outcome, kind, why, controls)
