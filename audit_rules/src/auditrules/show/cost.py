"""The cost of audit rules by call and by rule, and measurements beside predictions."""

from __future__ import annotations

from typing import Any, Literal

from rich.table import Table

from auditrules.cost.idle_rules import IdleKind, Waste
from auditrules.cost.measurement import OperationCost
from auditrules.cost.predict import Prediction
from auditrules.cost.totals import Priced
from auditrules.load.loaded_set import shorten_list
from auditrules.model.kernel_rule import KernelRule
from auditrules.show import fit
from auditrules.show.parts import (
    ARCHITECTURE,
    ARCHITECTURES,
    Amount,
    CheckedArchitectures,
    LeftOutLine,
    RuleAt,
    RulesDocument,
    guesses,
    left_out_lines,
)
from auditrules.tables import lookup
from auditrules.tables.lookup import Arch
from auditrules.words import visible

_MOST_CALLS = 20
_MOST_RULES = 12
_MOST_NAMES = 3

# As JSON ------------------------------------------------------------------------------------------


class CallCost(RulesDocument):
    """The cost of a call, in the document's unit; `count` is how often the mix makes it."""

    arch: str
    call: str
    count: Amount
    base: Amount
    fixed: Amount
    walk: Amount
    record: Amount | None
    recorded: bool
    insn_per_call: Amount | None = None
    ns_per_call: Amount | None = None
    not_predicted: str | None
    estimated: tuple[str, ...]


class CostInVain(RulesDocument):
    """Why a rule costs without recording anything."""

    kind: str
    by: RuleAt | None
    calls: tuple[str, ...]


class RuleCost(RuleAt):
    """The cost of a rule for the mean call."""

    insn_per_call: Amount | None = None
    ns_per_call: Amount | None = None
    in_vain: tuple[CostInVain, ...]


class MeasuredOperation(RulesDocument):
    """An operation measured beside its prediction."""

    operation: str
    unit: Literal["insn/op"]
    measured: Amount
    spread: Amount
    predicted: Amount | None
    off: Amount | None


class CostDocument(RulesDocument):
    """The result of `hardcost rules cost`; `median_off` only of prices in nanoseconds."""

    architecture: CheckedArchitectures
    predicted: Literal[True]
    unit: str
    constants: dict[str, str]
    mix: Literal["assumed", "given"]
    insn_per_call: Amount | None = None
    ns_per_call: Amount | None = None
    fixed_insn_per_call: Amount | None = None
    fixed_ns_per_call: Amount | None = None
    calls: tuple[CallCost, ...]
    rules: tuple[RuleCost, ...]
    refused: tuple[RuleAt, ...]
    estimated: tuple[str, ...]
    measured: tuple[MeasuredOperation, ...]
    median_off: Amount | None = None
    left_out: tuple[LeftOutLine, ...]


def document(priced: Priced) -> CostDocument:
    """Return all of it for JSON."""
    fixed = {f"fixed_{key}": value for key, value in _per_call(priced, priced.fixed).items()}
    held_out = {} if priced.prices is None else {"median_off": priced.prices.median_off}
    return CostDocument(
        architecture=ARCHITECTURES,
        predicted=True,
        unit=priced.unit,
        constants=dict(priced.constants.about),
        mix="assumed" if priced.assumed else "given",
        calls=tuple(_call(priced, *call) for call in priced.calls),
        rules=tuple(_rule(priced, index, cost) for index, cost in priced.ranking),
        refused=tuple(RuleAt.of(rule) for rule, _ in priced.rules.found.twice),
        estimated=tuple(sorted(priced.price.estimated)),
        measured=tuple(map(_operation, priced.rows)),
        left_out=left_out_lines(priced.rules),
        **_per_call(priced, priced.price.per_call),
        **fixed,
        **held_out,
    )


def _per_call(priced: Priced, cost: float | None) -> dict[str, Any]:
    """Return a cost by the key of its unit."""
    return {f"{priced.unit}_per_call": cost}


def _call(priced: Priced, arch: Arch, call: int, one: Prediction) -> CallCost:
    return CallCost(
        arch=arch,
        call=lookup.call_name(arch, call),
        count=priced.mix[arch, call],
        base=one.base,
        fixed=one.fixed,
        walk=one.walk,
        record=None if one.unknown else one.recording,
        recorded=one.recorded,
        not_predicted=one.unknown or None,
        estimated=tuple(sorted(one.estimated)),
        **_per_call(priced, None if one.unknown else one.total),
    )


def _rule(priced: Priced, index: int, cost: float) -> RuleCost:
    rules = priced.loaded.rules
    return RuleCost(
        **dict(RuleAt.of(rules[index])),
        in_vain=tuple(
            CostInVain(
                kind=waste.kind.value,
                by=None if waste.by is None else RuleAt.of(rules[waste.by]),
                calls=tuple(waste.calls),
            )
            for waste in priced.wastes.get(index, ())
        ),
        **_per_call(priced, None if index in priced.unpriced else cost),
    )


def _operation(row: OperationCost) -> MeasuredOperation:
    return MeasuredOperation(
        operation=row.operation,
        unit="insn/op",
        measured=row.measured,
        spread=row.spread,
        predicted=None if row.unknown else row.predicted,
        off=row.off if row.measured and not row.unknown else None,
    )


# As text ------------------------------------------------------------------------------------------


def tables(priced: Priced) -> list[Table]:
    """Return the tables for a terminal."""
    measured = [_measurement_table(priced)] if priced.rows else []
    return [*measured, _call_table(priced), _rule_table(priced)]


def notes(priced: Priced) -> list[str]:
    """Return notes on the numbers."""
    unused = ", ".join(sorted(priced.unused))
    resolve = "--passwd and --group resolve them"
    given = [f"priced as unused ids: {unused}; {resolve}"] if unused else []
    counted = (
        f"predicted from constants of Linux {_about(priced, 'kernel')}, measured by counting"
        f" instructions under QEMU {_about(priced, 'qemu')} on {_about(priced, 'date')};"
        " instructions are not time"
    )
    found = [*guesses(priced.rules), *given]
    prices = priced.prices
    found += [counted] if prices is None else [fit.source(prices), fit.worth(prices)]
    if priced.assumed:
        found.append(
            "the mix of calls is assumed, for a general-purpose system; --histogram takes your own"
        )
    if priced.fixed:
        share = _percent(priced.fixed, priced.price.per_call)
        found.append(
            f"having any rule: {priced.fixed:+,.1f} {priced.unit} per call (predicted), {share} of"
            " the mean; leaving out single rules does not avoid it"
        )
    found.append("a path rule counts with 1/32, since one visited file in 32 meets it")
    if any(rule.path or rule.directory for rule in priced.loaded.rules):
        found.append(
            "not priced: what a watch adds to opening and changing files on the file system"
            " that it watches (fsnotify); a guest's workload uses another file system"
        )
    recorded = sorted(
        lookup.call_name(arch, call) for arch, call, one in priced.calls if one.recorded
    )
    if recorded:
        found.append(f"always recorded: {shorten_list(recorded, _MOST_NAMES)}")
    estimated = sorted(priced.price.estimated)
    if estimated:
        found.append(f"estimated, not measured: {shorten_list(estimated, _MOST_NAMES)}")
    return [*found, *_unpredicted_notes(priced), ARCHITECTURE]


def _unpredicted_notes(priced: Priced) -> list[str]:
    """Return which calls have no prediction, and why; which rules have no price."""
    by_reason: dict[str, list[str]] = {}
    for (arch, call), reason in priced.price.unknown.items():
        by_reason.setdefault(reason, []).append(_name(arch, call))
    return [
        *(
            f"not predicted: {shorten_list(sorted(calls), _MOST_NAMES)}: {reason};"
            " the mean is without their records"
            for reason, calls in by_reason.items()
        ),
        *(
            f"not predicted: {_place(priced.loaded.rules[at])}: what it costs new processes or"
            " records, or saves"
            for at in sorted(priced.unpriced)
        ),
    ]


def _about(priced: Priced, key: str) -> str:
    return priced.constants.about.get(key, "unknown")


def _call_table(priced: Priced) -> Table:
    mean = priced.price.per_call
    lacking = ", without what is not predicted" if priced.price.unknown else ""
    table = Table(
        title=f"predicted: {mean:,.1f} {priced.unit} per call, the mean of the mix{lacking};"
        " by call",
        title_justify="left",
        caption=_rest_caption(len(priced.calls), _MOST_CALLS, "calls"),
        caption_justify="left",
    )
    table.add_column("call")
    other = ("other base",) if priced.has_other else ()
    heads = (
        "of 1000 calls",
        "any rule",
        *other,
        "walk",
        "record",
        f"{priced.unit}/call",
        "share",
    )
    for name in heads:
        table.add_column(name, justify="right")
    for arch, call, one in priced.calls[:_MOST_CALLS]:
        count = priced.mix[arch, call] / priced.price.calls
        table.add_row(
            _name(arch, call),
            f"{1000 * count:.1f}",
            f"{one.fixed:,.0f}",
            *([f"{one.base - one.fixed:,.0f}"] if priced.has_other else []),
            f"{one.walk:,.0f}",
            _record(one),
            "not predicted" if one.unknown else f"{one.total:,.0f}",
            "" if one.unknown else _percent(one.total * count, mean),
        )
    return table


def _rule_table(priced: Priced) -> Table:
    table = Table(
        title=f"predicted: the most expensive rules, in the mean of the mix{_one_file(priced)}",
        title_justify="left",
        caption=_rest_caption(len(priced.ranking), _MOST_RULES, "rules"),
        caption_justify="left",
    )
    table.add_column(f"{priced.unit}/call", justify="right")
    table.add_column("share", justify="right")
    table.add_column("rule", overflow="fold", ratio=3)
    table.add_column("in vain", overflow="fold", ratio=2)
    for index, cost in priced.ranking[:_MOST_RULES]:
        rule = priced.loaded.rules[index]
        unknown = index in priced.unpriced
        table.add_row(
            "not predicted" if unknown else f"{cost:.2f}",
            "" if unknown else _percent(cost, priced.price.per_call),
            f"{_where(priced, rule)}: {_text(rule)}",
            "\n".join(_reason(priced, one) for one in priced.wastes.get(index, ())),
        )
    return table


def _reason(priced: Priced, waste: Waste) -> str:
    if waste.kind is IdleKind.SHADOWED and waste.by is not None:
        return f"never fires: {_where(priced, priced.loaded.rules[waste.by])} decides before it"
    if waste.kind is IdleKind.CONTRADICTION:
        return "never fires: two of its conditions exclude each other"
    calls = shorten_list(waste.calls, _MOST_NAMES)
    return f"tested on 64-bit calls that share its 32-bit calls' numbers: {calls}"


def _files(priced: Priced) -> frozenset[str]:
    sources = (rule.source for rule in priced.loaded.rules)
    return frozenset(one.place.file for one in sources if one is not None and one.place)


def _one_file(priced: Priced) -> str:
    return f"; lines of {visible(*_files(priced))}" if len(_files(priced)) == 1 else ""


def _where(priced: Priced, rule: KernelRule) -> str:
    """Return a rule's place: only the line if all rules are in one file."""
    if len(_files(priced)) == 1 and rule.source and rule.source.place:
        return str(rule.source.place.line)
    return _place(rule)


def _measurement_table(priced: Priced) -> Table:
    table = Table(
        title="measured in a guest (insn: counted instructions) and predicted, per operation",
        title_justify="left",
    )
    table.add_column("operation")
    for name in ("measured insn/op", "±", "predicted insn/op", "off by"):
        table.add_column(name, justify="right")
    for row in priced.rows:
        table.add_row(
            row.operation,
            f"{row.measured:,.1f}",
            f"{row.spread:.0f}" if row.spread else "",
            "not predicted" if row.unknown else f"{row.predicted:,.1f}",
            f"{row.off:+.1%}" if row.measured and not row.unknown else "",
        )
    return table


def _rest_caption(there: int, most: int, what: str) -> str | None:
    return f"{there - most} more {what}: --format json lists them all" if there > most else None


def _place(rule: KernelRule) -> str:
    return visible(str(rule.source.place)) if rule.source and rule.source.place else "a rule"


def _text(rule: KernelRule) -> str:
    return visible(rule.source.text) if rule.source else ""


def _name(arch: Arch, call: int) -> str:
    name = lookup.call_name(arch, call)
    return name if arch == "b64" else f"{name} ({arch})"


def _record(one: Prediction) -> str:
    if one.unknown:
        return ""
    return f"{one.recording:,.0f}" if one.recorded else "-"


def _percent(part: float, whole: float) -> str:
    return f"{part / whole:.1%}" if whole else "-"
