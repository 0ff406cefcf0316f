"""The price of an audit rule, predicted by the cost model of Debian's kernel."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace

from auditrules.cost import events
from auditrules.cost.constants import Constants
from auditrules.cost.predict import predict
from auditrules.kernel import semantics
from auditrules.kernel.field_tests import UnresolvedError
from auditrules.library.arguments import COMMAND_LINE
from auditrules.load import watched_paths
from auditrules.load.load import load_rules
from auditrules.load.target import NOWHERE
from auditrules.model.location import Location
from auditrules.prove.unknown_ids import numbers_for, resolve_ids
from auditrules.read import parse
from hardcost.controls.control import Controls
from hardcost.mechanisms.audit import AUDIT, AuditRule, controls_of
from hardcost.model.finding.price import CallPrice, ControlPrice, KernelPrice
from hardcost.model.workload import workload_of
from hardcost.profiles import benchmark_ids
from hardcost.profiles.benchmark_ids import Required
from hardcost.units import join_in_prose

_CALLS = workload_of("syscalls")
_UNIT = "insn/op"
_UNUSED = ("is priced as an unused id", "are priced as unused ids")
_BY_NAME = "whether what is watched is a file or a directory is judged by its name"


def rules_of(text: str) -> tuple[AuditRule, ...]:
    """Return the rules in a text, which is a line or several.

    Raises:
        InputError: One can't be read, or the kernel would refuse it.
    """
    rules = parse.read_text(text.encode(errors="surrogateescape"), COMMAND_LINE)
    AUDIT.check(controls_of(rules), COMMAND_LINE)
    return tuple(map(AuditRule, rules.rules))


def required_rules(required: Required) -> Controls:
    """Return the rules that a benchmark's control requires, with notes on what they watch."""
    place = Location(required.name, 1)
    rules = parse.read_lines([(line, place) for line in required.rules])
    notes = watched_paths.notes(rules.rules)
    return Controls(tuple(map(AuditRule, rules.rules)), (*rules.notes, *notes))


def _without_price(rule: AuditRule, why: str) -> ControlPrice:
    measure = f"hardcost bill {shlex.quote(rule.name)}"
    return ControlPrice(control=rule.name, what=rule.noun, why=why, measure=measure)


def _caveats(rule: AuditRule, unknown: Sequence[str]) -> Iterator[str]:
    """Yield what is judged without a machine: the kind of a watched path, and users and groups."""
    if rule.name.startswith("-w"):
        yield _BY_NAME
    if unknown:
        yield f"{join_in_prose(unknown)} {_UNUSED[len(unknown) > 1]}"


def price_of_rule(rule: AuditRule) -> ControlPrice:
    """Return the predicted price of an audit rule, as the only one on a machine."""
    constants = Constants.of_debian()
    target = replace(NOWHERE.likely_target([rule.rule]), auditctl=constants.auditctl)
    loaded = load_rules([rule.rule], target)
    if loaded.failing or not loaded.rules:
        return _without_price(rule, "auditctl or the kernel refuses it")
    numbers = numbers_for(loaded.rules, {})
    known = semantics.load(resolve_ids(loaded.rules, numbers))
    calls: list[CallPrice] = []
    unknown: list[str] = []
    for metric, names_of_calls in events.operations().items():
        if not names_of_calls:  # a page fault makes none
            continue
        try:
            predicted = [predict(constants, known, events.typical(one)) for one in names_of_calls]
        except UnresolvedError as error:
            return _without_price(rule, str(error))
        if any(one.unknown or one.estimated for one in predicted):
            unknown.append(metric)
            continue
        first = sum(one.base for one in predicted)
        own = sum(one.total for one in predicted) - first
        calls.append(
            CallPrice(
                workload=_CALLS,
                metric=metric,
                unit=_UNIT,
                base=constants.without.get(metric),
                cost=own,
                low=own,
                high=own,
                first=first,
            )
        )
    if not calls:
        return _without_price(rule, "what such a rule costs is not predicted")
    costing = sorted((one for one in calls if one.cost), key=lambda one: -abs(one.share))
    return ControlPrice(
        control=rule.name,
        what=rule.noun,
        demanded_by=benchmark_ids.demanding_rule(rule.name),
        kernels=(
            KernelPrice(
                kernel=constants.about["kernel"],
                known="predicted",
                calls=tuple(costing),
                free=len(calls) - len(costing),
                against="beside other rules",
                date=constants.about["date"],
                environment=dict(constants.about),
                missing=dict.fromkeys(unknown, "the cost model has no constants for it"),
            ),
        ),
        caveats=tuple(_caveats(rule, sorted(name for _, name in numbers))),
        measure=f"hardcost bill {shlex.quote(rule.name)}",
    )
