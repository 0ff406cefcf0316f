"""The beginning of a report: the answer, in sentences of at most three numbers each.

A pure function of the finding; terminal and HTML show the same words. Nothing here escapes HTML.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal

from hardcost.analysis.bill.weights import WHOLE, with_average
from hardcost.model.finding.bill import Bill, Bills, Item, Itemised, Total
from hardcost.model.finding.calls import Calls
from hardcost.model.finding.cell import Cell
from hardcost.model.finding.choice import Advised
from hardcost.model.finding.finding import Finding
from hardcost.model.finding.head import Found
from hardcost.model.finding.study import StudyFinding
from hardcost.model.finding.trace import Traces
from hardcost.model.role import AuditOff, Role, Whole
from hardcost.model.workload import MetricId, metric_among
from hardcost.show.bill_rows import BillRow, BillRows, MetricFigures, rows_of_bill
from hardcost.show.sentences.advice import advice_lines
from hardcost.show.sentences.amounts import (
    change,
    cost_factor,
    instrument_words,
    join_names,
    metric_words,
    quote_name,
    unit_words,
)
from hardcost.show.sentences.choice import choice_sentences
from hardcost.show.sentences.hotspots import hotspots_answer
from hardcost.show.sentences.run import run_answer
from hardcost.show.sentences.statement import Ranked, Statement
from hardcost.show.sentences.time_and_count import both_sentences
from hardcost.show.sentences.trace import trace_answer
from hardcost.show.text import decimals, number, percent, shorten, signed_number
from hardcost.units import count, is_rate, visible
from hardcost.workloads import command

_NULL = MetricId("null")
"""The cheapest call: its ratio is the largest of most bills, and says least of a workload."""

_TITLES = {"rule": "rules", "control": "controls (settings that can be off)"}

_TELLING = Decimal("0.001")
"""The least share of a cost that belongs to no single control and is worth a sentence."""

_DEAREST = 5
"""Most controls that are named in one sentence."""

TOP = 10
"""Most controls of a bill's first screen."""

_NAME = 110
"""Most characters of a name in a sentence; tables show it whole."""


def answer(finding: Finding) -> Statement:
    """Return the answer for the user of `bill` or `run`."""
    match finding:
        case Bills():
            return Statement(tuple(_side_by_side(finding.bills)))
        case Traces():
            return trace_answer(finding)
        case Calls():
            return hotspots_answer(finding)
        case StudyFinding():
            return run_answer(finding)
        case Bill():
            return bill_answer(finding)


def bill_answer(finding: Bill) -> Statement:
    """Return the cost of a profile, in all and by control."""
    rows = rows_of_bill(finding)
    chosen = choice_sentences(finding.choice)[:1] if isinstance(finding, Advised) else []
    sentences = [*chosen, *_advice_sentence(finding), *_whole_cost(finding, rows)]
    sentences += both_sentences(finding)
    sentences += _any_rule(rows)
    sentences += _defaults(rows)
    kind = kind_of(finding)
    if finding.search is not None:
        sentences += _search_sentences(finding, rows)
    else:
        sentences += _controls(rows, kind)
    # A search measures the culprits only, and says nothing about other single controls.
    free = () if finding.search is not None else free_entries(rows)
    by = "" if rows.leading is None else metric_words(rows.leading.metric)
    return Statement(
        tuple(sentences),
        f"The most expensive {_TITLES[kind]}, by their cost on {by}",
        tuple(_ranked_controls(rows)),
        "Free here: not distinguishable from 0 on anything measured"
        f" ({len(free)} of {len(rows.entries)})",
        tuple((entry.number, visible(entry.control)) for entry in free),
        _others(rows, kind, searched=finding.search is not None),
    )


def _side_by_side(bills: Sequence[Bill]) -> Iterator[str]:
    """Yield each bill's first sentence, the most expensive profile, and the average's meaning."""
    for one in bills:
        yield from bill_answer(one).sentences[:1]
    rows_by_profile = {one.profile: rows_of_bill(one) for one in bills}
    costs = {
        name: rows.leading for name, rows in rows_by_profile.items() if rows.leading is not None
    }
    if len(costs) < 2 or len({(one.metric, one.unit) for one in costs.values()}) != 1:  # noqa: PLR2004
        return
    least, *_, most = sorted(costs, key=lambda name: costs[name].cost)
    of, by = costs[most], costs[most].cost - costs[least].cost
    where = metric_words(of.metric)
    if by <= max(one.least for one in costs.values()):
        yield f"Their costs on {where} are not distinguishable."
    else:
        yield (
            f"{quote_name(most)} costs most on {where}: {number(by, of.digits)} {_per(of)}"
            f" more than {quote_name(least)}."
        )
    yield from _average_of(next(iter(rows_by_profile.values())))


def kind_of(bill: Itemised) -> str:
    """Return the noun for a bill's controls: rules, if all are audit rules."""
    names = bill.controls or tuple(item.control for item in bill.items)
    # Names of audit rules alone begin so: they are the rules.
    return "rule" if names and all(name.startswith("-") for name in names) else "control"


def _others(rows: BillRows, kind: str, *, searched: bool) -> str:
    """Return the costs of controls that are not listed, and those that no control has by itself."""
    of, named = rows.leading, {entry.control for entry in dear_entries(rows)[:TOP]}
    others = [entry for entry in rows.entries if entry.control not in named]
    if of is None or searched:
        return ""
    said, cost = [], of.of(others)
    if cost:
        whose = f"The other {kind} costs" if len(others) == 1 else f"The {len(others)} others cost"
        together = "" if len(others) == 1 else " together"
        said.append(f"{whose} {signed_number(cost, of.digits)} {_per(of)}{together}.")
    beyond = of.cost - of.fixed - of.of(rows.entries)
    if abs(beyond) > abs(of.cost) * _TELLING:
        what = "what they cost together but not one by one" if beyond > 0 else "what they share"
        said.append(
            f"{signed_number(beyond, of.digits)} {_per(of)} belong to no single {kind}:"
            f" {what}, and noise."
        )
    return " ".join(said)


def is_free(item: Item) -> bool:
    """Say whether a control's cost on a metric is not distinguishable from 0."""
    return item.high >= 0 if is_rate(item.unit) else item.low <= 0


def is_nothing(total: Total, cell: Cell | None) -> bool:
    """Say whether a profile's cost on a metric is not distinguishable from 0.

    `cell` is the metric under the whole profile, None if unknown.
    """
    if not total.distinguishable or cell is None:
        return not total.distinguishable
    return cell.ratio_low < cell.ratio_high and cell.ratio_low <= 1 <= cell.ratio_high


def free_entries(rows: BillRows) -> tuple[BillRow, ...]:
    """Return the controls whose cost is not distinguishable from 0 on any metric.

    A control without an item for a metric is in the rest there. Controls whose cost the numbers do
    not show are not free.
    """
    return tuple(
        entry
        for entry in rows.entries
        if not entry.unshown and all(map(is_free, entry.items.values()))
    )


def baseline_words(finding: Bill) -> str:
    """Return the baseline of a bill's profile, such as `audit on and no rules`."""
    if finding.compared_with:
        return visible(finding.compared_with)
    if not _has_audit(finding):
        return "none of these controls"
    rules = all(item.fired is not None for item in finding.items)
    return "audit on and no rules" if rules else "audit on and none of these controls"


def _has_audit(finding: Bill) -> bool:
    return any(cell.configuration == AuditOff() for cell in finding.cells)


def _advice_sentence(finding: Bill) -> Iterator[str]:
    """Yield the controls to leave out for a budget, if there was one."""
    if finding.advice is not None:
        yield advice_lines(finding.advice)[0]


def _whole_cost(bill: Bill, rows: BillRows) -> Iterator[str]:
    """Yield the cost of the whole profile: on what leads the bill, and where it is largest."""
    profile = quote_name(bill.profile)
    instrument = instrument_words(bill.instrument)
    totals = [it for it in bill.totals if math.isfinite(it.baseline + it.with_profile)]
    if not totals:
        yield f"No cost of {profile} was measured ({instrument})."
        return
    cells = by_metric(bill, Whole())
    clear = [it for it in totals if not is_nothing(it, cells.get(it.metric))]
    if not clear:
        several = f"any of {len(totals)} metrics"
        where = metric_words(totals[0].metric) if len(totals) == 1 else several
        yield f"{profile} has no cost distinguishable from 0 on {where} ({instrument})."
        yield from _too_wide(totals[0] if len(totals) == 1 else None)
        return
    program, every = _program(bill), with_average(bill, rows.weighed).totals
    leading = next(it for it in every if it.metric == rows.weighed.leading)
    if leading in clear or (leading not in totals and leading.distinguishable):
        changed = change(_round_total(leading, rows), cells.get(leading.metric), program)
        compared = f"compared to a system with {baseline_words(bill)}"
        yield f"{profile} {changed}, {compared} ({instrument})."
    else:
        where = metric_words(leading.metric)
        yield f"{profile} has no cost distinguishable from 0 on {where} ({instrument})."
        yield from _too_wide(leading)
    yield from _average_of(rows)
    if not bill.weights or leading not in clear:
        for one in _further_totals(leading, clear):
            yield f"{profile} {change(one, cells.get(one.metric), program)}{_mostly(one, rows)}."


def _too_wide(total: Total | None) -> Iterator[str]:
    """Yield the range of a cost that may be 0, and the way to narrow it."""
    if total is None or total.low is None or total.high is None or total.low == total.high:
        return
    ends = (total.low, total.high)
    low, high = (signed_number(end, decimals(ends)) for end in ends)
    unit = unit_words(total.unit)
    yield f"It may be anything from {low} to {high} {unit}; more --repetitions narrow that."


def _round_total(leading: Total, rows: BillRows) -> Total:
    """Return a total in the list's rounded figures, so that no two sentences differ by a digit."""
    of = rows.leading
    if of is None or of.metric != leading.metric:
        return leading
    return replace(leading, baseline=float(of.baseline), with_profile=float(of.with_profile))


def _further_totals(leading: Total, clear: Sequence[Total]) -> Iterator[Total]:
    """Yield what is worth a sentence beside what leads: other whole programs, the worst call."""
    others = [it for it in clear if leading.metric != it.metric != _NULL]
    yield from (it for it in others if _is_whole(it))
    if not _is_whole(leading):
        worst = max((it for it in others if not _is_whole(it)), key=_factor, default=leading)
        if _factor(worst) > _factor(leading):
            yield worst


def _is_whole(total: Total) -> bool:
    return total.metric.name == WHOLE


def _program(finding: Found) -> str:
    """Return the subject of the metric `wall`: `your program`, or the workload."""
    workloads = {one.workload for one in finding.cells}
    if len(workloads) != 1:
        return "the program"
    (only,) = workloads
    return "your program" if only.name == command.KIND.name else f"the workload {quote_name(only)}"


def _average_of(rows: BillRows) -> Iterator[str]:
    """Yield the calls that the average call is the mean of."""
    weighed = rows.weighed
    if weighed.covered is None or len(weighed.weights) == 1:
        return
    calls = f"{len(weighed.weights)} measured calls"
    if weighed.assumed:
        yield (
            f"The average is over {calls}, weighted by how often a general-purpose system is"
            " assumed to make them; --histogram FILE weighs them as your system does, --call open"
            " bills that call alone."
        )
    else:
        yield (
            f"The average is over {calls}, weighted by your histogram; they are"
            f" {percent(weighed.covered)} of its calls."
        )


def _any_rule(rows: BillRows) -> Iterator[str]:
    """Yield the price of having any audit rule, on the bill's leading metric."""
    paid = rows.leading
    if paid is None or not paid.fixed or paid.baseline <= 0:
        return
    cost = f"{number(paid.fixed, paid.digits)} of the {number(paid.cost, paid.digits)}"
    if paid.fixed > paid.cost:
        cost = number(paid.fixed, paid.digits)
    end = "; only leaving out all rules saves that" if len(rows.entries) > 1 else ""
    yield (
        f"Having any audit rule at all costs {cost} {_per(paid)} on"
        f" {metric_words(paid.metric)}{end}."
    )


def _per(account: MetricFigures) -> str:
    return "instructions" if account.unit == "insn/op" else unit_words(account.unit)


def _defaults(rows: BillRows) -> Iterator[str]:
    """Yield the total with and without controls that are the default anyway."""
    of = rows.leading
    if of is None or of.baseline <= 0:
        return
    whose = {
        entry.control: next((it.default for it in entry.items.values() if it.default), None)
        for entry in rows.entries
    }
    default = [one for one, of_whom in whose.items() if of_whom and of.items.get(one)]
    if not default:
        if len(whose) == 1 and all(whose.values()):
            yield f"It is the default of the {next(iter(whose.values()))} anyway."
        return
    cost = sum((of.items[control] for control in default), Decimal(0))
    named = join_names([shorten(visible(one), _NAME) for one in default[:_DEAREST]])
    more = f" and {len(default) - _DEAREST} more" if len(default) > _DEAREST else ""
    yield (
        f"Without what is the default anyway ({named}{more}), the cost on"
        f" {metric_words(of.metric)} is {signed_number(of.cost - cost, of.digits)} {_per(of)}."
    )


def _factor(total: Total) -> float:
    """Return a metric's cost with the profile as a multiple of the baseline's cost."""
    factor = cost_factor(total.baseline, total.with_profile, total.unit)
    return factor if math.isfinite(factor) else 0.0


def by_metric(finding: Found, role: Role) -> dict[MetricId, Cell]:
    """Return a configuration's cells by the names that metrics have in a bill."""
    cells = [cell for cell in finding.cells if cell.configuration == role]
    workloads = {cell.workload for cell in cells}
    return {metric_among(workloads, c.workload, c.metric): c for c in cells}


def _mostly(total: Total, rows: BillRows) -> str:
    """Return which control makes more than half of a metric's cost, if one does."""
    account = next((one for one in rows.accounts if one.metric == total.metric), None)
    if account is None or not account.items or is_rate(account.unit):
        return ""
    entry = max(rows.entries, key=lambda one: account.items.get(one.control, Decimal(0)))
    cost = account.items.get(entry.control, Decimal(0))
    if cost <= 0 or cost * 2 <= account.cost or is_free(entry.items[total.metric]):
        return ""
    name = shorten(visible(entry.control), _NAME)
    return f"; {number(min(cost, account.cost), account.digits)} of that by {name}"


def _controls(rows: BillRows, kind: str) -> Iterator[str]:
    """Yield the most expensive control, how many are free, and how many are unknown."""
    entries, free = rows.entries, free_entries(rows)
    unshown = [entry for entry in entries if entry.unshown]
    if len(entries) == 1 and free:
        yield f"Its only {kind} has no cost distinguishable from 0."
    if len(entries) > 1:
        yield from _dearest(rows, kind)
        yield from _free(len(entries), len(free), len(unshown), kind)
    if unshown:
        controls = f"its only {kind}" if len(entries) == 1 else count(len(unshown), kind)
        reasons = dict.fromkeys(
            item.caveat for entry in unshown for item in entry.items.values() if item.caveat
        )
        why = next(iter(reasons)) if len(reasons) == 1 else "`--all` says why"
        yield f"The numbers do not show what {controls} may cost: {visible(why)}."


def _free(every: int, free: int, unshown: int, kind: str) -> Iterator[str]:
    """Yield how many controls are free."""
    if free == every:
        yield (
            f"None of its {every} {kind}s costs anything distinguishable from 0 while the"
            " others are on."
        )
    elif free:
        verb = "is" if free == 1 else "are"
        cost = "its cost is" if free == 1 else "their cost is"
        yield (
            f"{free} of {every} {kind}s {verb} free here: while the others are on, {cost}"
            " not distinguishable from 0."
        )
    elif not unshown:
        yield f"None of the {every} {kind}s is free."


def _dearest(rows: BillRows, kind: str) -> Iterator[str]:
    """Yield the most expensive control on the leading metric, or that none stands out."""
    of, dear = rows.leading, dear_entries(rows)
    if of is None or len(free_entries(rows)) == len(rows.entries):
        return
    where = metric_words(of.metric)
    if not dear:
        yield f"No single {kind}'s cost on {where} is distinguishable from 0."
        return
    cost = of.items[dear[0].control]
    amount_of = f"{number(cost, of.digits)} {_per(of)} on {where}"
    if of.cost >= cost and not of.by_chance:
        amount_of = (
            f"{number(cost, of.digits)} of the {number(of.cost, of.digits)} {_per(of)} on {where}"
        )
    equals = sum(of.items[entry.control] == cost for entry in dear)
    name = shorten(visible(dear[0].control), _NAME)
    if equals > 1:
        yield f"{equals} {kind}s cost most, {amount_of} each; the first is {name}."
    else:
        yield f"The most expensive {kind} costs {amount_of}: {name}."


def dear_entries(rows: BillRows) -> list[BillRow]:
    """Return the controls with a distinguishable cost on the leading metric, in order."""
    of = rows.leading
    if of is None:
        return []
    return [
        entry
        for entry in rows.entries
        if of.metric in entry.items
        and not is_free(entry.items[of.metric])
        and (of.items[entry.control] < 0 if is_rate(of.unit) else of.items[entry.control] > 0)
    ]


def _ranked_controls(rows: BillRows) -> Iterator[Ranked]:
    """Yield the most expensive controls as shown beside the answer."""
    of, dear = rows.leading, dear_entries(rows)[:TOP]
    if of is None:
        return
    for entry in dear:
        cost = of.items[entry.control]
        yield Ranked(
            visible(entry.control),
            f"{signed_number(cost, of.digits)} {_per(of)}",
            float(cost / of.items[dear[0].control]),
            entry.number,
            visible(entry.place),
        )


def _search_sentences(bill: Itemised, rows: BillRows) -> Iterator[str]:
    """Yield the result of a search: its culprits, and the cost of everything else together."""
    culprits = [entry.control for entry in rows.entries]
    if not culprits:
        yield "The search confirmed no single control as the cause."
        return
    what = join_names([shorten(visible(name), _NAME) for name in culprits[:_DEAREST]])
    more = f" and {len(culprits) - _DEAREST} more" if len(culprits) > _DEAREST else ""
    yield f"The search confirmed {count(len(culprits), 'culprit')}: {what}{more}."
    of = rows.leading
    if of is not None and bill.rest and rows.entries[0] in dear_entries(rows):
        yield (
            f"On {metric_words(of.metric)} the first makes"
            f" {signed_number(of.items[culprits[0]], of.digits)} {_per(of)};"
            f" everything but the culprits makes {signed_number(of.rest, of.digits)} together."
        )
