"""The beginning of a report: the answer, in sentences of at most three numbers each.

A pure function of the finding; terminal and HTML show the same words. Nothing here escapes HTML.
"""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING

from hardcost.report.ledger import ledger
from hardcost.report.sentences.advice import advice_lines
from hardcost.report.sentences.amounts import amount, change, joined, quoted, unit_words
from hardcost.report.sentences.bothwords import both_sentences
from hardcost.report.sentences.choicewords import choice_sentences
from hardcost.report.sentences.profile_answer import profile_answer
from hardcost.report.sentences.run_answer import run_answer
from hardcost.report.sentences.statement import Answer, Ranked
from hardcost.report.sentences.trace_answer import trace_answer
from hardcost.report.text import decimals, number, percent, ratio, shorten, signed, visible
from hardcost.units import count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hardcost.analysis.finding import Bill, Cell, Finding, Item, Total
    from hardcost.report.ledger import Account, Entry, Ledger

AUDIT_OFF = "audit-off"
"""The configuration of a bill in which audit is off, if need be by a boot parameter."""

_PROFILE = "profile"

_DEAREST = 5
"""The number of the most expensive controls that are named."""

_NAME = 110
"""Most characters of a name in a sentence; tables show it whole."""


def answer(finding: Finding) -> Answer:
    """Return the answer for the user of `bill` or `run`."""
    if finding.together is not None:
        each = (answer(one).sentences[:1] for one in finding.together.bills)
        return Answer(tuple(sentence for sentences in each for sentence in sentences))
    if finding.traces:
        return trace_answer(finding)
    if finding.profiles and not finding.levels:
        return profile_answer(finding)
    if finding.bill is None:
        return run_answer(finding)
    book = ledger(finding.bill)
    chosen = [] if finding.choice is None else choice_sentences(finding.choice)[:1]
    sentences = [*chosen, *_advised(finding), *_whole(finding, finding.bill)]
    sentences += both_sentences(finding)
    sentences += _any_rule(book)
    sentences += _defaults(finding.bill)
    if finding.search is not None:
        sentences += _searched(finding.bill, book)
    else:
        sentences += _controls(book)
    dear = [entry for entry in book.entries if _dearest_on(book, entry) is not None]
    # A search measures the culprits only, and says nothing about other single controls.
    free = () if finding.search is not None else free_entries(book)
    return Answer(
        tuple(sentences),
        "The most expensive controls",
        tuple(_ranked(book, dear)),
        f"Free: not distinguishable from 0 on any metric ({len(free)} of {len(book.entries)})",
        tuple((entry.number, visible(entry.control)) for entry in free),
    )


def is_free(item: Item) -> bool:
    """Say whether a control costs nothing on a metric that is distinguishable from 0."""
    return item.low <= 0


def is_nothing(total: Total, cell: Cell | None) -> bool:
    """Say whether a profile's cost on a metric is not distinguishable from 0.

    `cell` is the metric under the whole profile, None if unknown.
    """
    if not total.distinguishable or cell is None:
        return not total.distinguishable
    return cell.ratio_low < cell.ratio_high and cell.ratio_low <= 1 <= cell.ratio_high


def free_entries(book: Ledger) -> tuple[Entry, ...]:
    """Return the controls that cost nothing distinguishable from 0 on any metric.

    A control without an item for a metric is in the rest there. Controls whose cost the numbers do
    not show are not free.
    """
    return tuple(
        entry
        for entry in book.entries
        if not entry.unshown and all(map(is_free, entry.items.values()))
    )


def baseline_words(finding: Finding) -> str:
    """Return the baseline of a bill's profile, such as `audit on and no rules`."""
    bill = finding.bill
    if bill is not None and bill.compared_with:
        return visible(bill.compared_with)
    if bill is None or not _has_audit(finding):
        return "none of these controls"
    rules = all(item.fired is not None for item in bill.items)
    return "audit on and no rules" if rules else "audit on and none of these controls"


def _has_audit(finding: Finding) -> bool:
    return any(cell.configuration == AUDIT_OFF for cell in finding.cells)


def _advised(finding: Finding) -> Iterator[str]:
    """Yield what to leave out for a budget, if there was one."""
    if finding.advice is not None:
        yield advice_lines(finding.advice)[0]


def _whole(finding: Finding, bill: Bill) -> Iterator[str]:
    """Yield the cost of the whole profile: on its most expensive metric, and on the median one."""
    profile = quoted(bill.profile)
    instrument = f"instrument {visible(finding.instrument)}"
    totals = [it for it in bill.totals if math.isfinite(it.baseline + it.with_profile)]
    if not totals:
        yield f"No cost of {profile} was measured ({instrument})."
        return
    cells = by_metric(finding, _PROFILE)
    if all(is_nothing(it, cells.get(it.metric)) for it in totals):
        where = quoted(totals[0].metric) if len(totals) == 1 else f"any of {len(totals)} metrics"
        yield f"{profile} costs nothing distinguishable from 0 on {where} ({instrument})."
        return
    worst = max(totals, key=_factor)
    changed = change(worst, cells.get(worst.metric))
    compared = f"compared to a system with {baseline_words(finding)}"
    yield f"{profile} {changed}, {compared} ({instrument})."
    if len(totals) > 1:
        largest = f"{quoted(worst.metric)} has the largest ratio of {len(totals)} metrics"
        yield f"{largest}; the median ratio is {_median(totals)}."


def _any_rule(book: Ledger) -> Iterator[str]:
    """Yield what having any audit rule costs, on the metric where it is the largest part."""
    paid = [one for one in book.accounts if one.fixed and one.baseline > 0]
    if not paid:
        return
    most = max(paid, key=lambda one: one.fixed / one.baseline)
    cost = f"{signed(most.fixed, most.digits)} {unit_words(most.unit)}"
    share = percent(float(most.fixed / most.baseline))
    end = "; leaving out single rules does not avoid it" if len(book.entries) > 1 else ""
    yield f"Having any audit rule: {cost}, {share} of {quoted(most.metric)}{end}."


def _defaults(bill: Bill) -> Iterator[str]:
    """Yield the total with and without what is the default anyway, where that is most of it."""
    by_metric: dict[str, list[Item]] = {}
    for item in bill.items:
        if item.default is not None and item.cost:
            by_metric.setdefault(item.metric, []).append(item)
    totals = [one for one in bill.totals if one.metric in by_metric and one.baseline > 0]
    if not totals:
        return

    def cost(total: Total) -> float:
        return math.fsum(item.cost for item in by_metric[total.metric])

    most = max(totals, key=lambda one: abs(cost(one)) / one.baseline)
    items = by_metric[most.metric]
    digits = decimals([most.cost, cost(most)])
    named = joined([shorten(visible(item.control), _NAME) for item in items[:_DEAREST]])
    more = f" and {len(items) - _DEAREST} more" if len(items) > _DEAREST else ""
    yield (
        f"{quoted(most.metric)} costs {signed(most.cost, digits)} {unit_words(most.unit)},"
        f" {signed(most.cost - cost(most), digits)} without what is the default anyway:"
        f" {named}{more}."
    )


def _factor(total: Total) -> float:
    """Return a metric's cost with the profile as a multiple of the baseline's cost."""
    return amount(total.baseline, total.with_profile, total.unit)


def _median(totals: Sequence[Total]) -> str:
    factors = [factor for factor in map(_factor, totals) if math.isfinite(factor)]
    return ratio(statistics.median(factors))[1:] if factors else "unknown"


def by_metric(finding: Finding, configuration: str) -> dict[str, Cell]:
    """Return a configuration's cells by the names that metrics have in a bill."""
    cells = [cell for cell in finding.cells if cell.configuration == configuration]
    several = len({cell.workload for cell in cells}) > 1
    return {f"{c.workload} {c.metric}" if several else c.metric: c for c in cells}


def _controls(book: Ledger) -> Iterator[str]:
    """Yield the most expensive control, how many are free, and how many are unknown."""
    entries, free = book.entries, free_entries(book)
    unshown = [entry for entry in entries if entry.unshown]
    if len(entries) == 1 and free:
        yield "Its only control costs nothing distinguishable from 0."
    if len(entries) > 1:
        yield from _dearest(book)
        yield from _free(len(entries), len(free), len(unshown))
    if unshown:
        controls = "its only control" if len(entries) == 1 else count(len(unshown), "control")
        yield f"The numbers do not show what {controls} may cost; the table says why."


def _free(every: int, free: int, unshown: int) -> Iterator[str]:
    """Yield how many controls are free."""
    if free == every:
        yield (
            f"None of its {every} controls costs anything distinguishable from 0 beside the others."
        )
    elif free:
        verb = "costs" if free == 1 else "cost"
        yield (
            f"{free} of {every} controls {verb} nothing distinguishable from 0 on any metric"
            " beside the others."
        )
    elif not unshown:
        yield f"Each of the {every} controls costs something on at least one metric."


def _dearest(book: Ledger) -> Iterator[str]:
    first = book.entries[0]
    account = _dearest_on(book, first)
    if account is None:
        return
    cost = account.items[first.control]
    words = f"{unit_words(account.unit)} on {quoted(account.metric)}"
    if account.cost >= cost:
        words = (
            f"{number(cost, account.digits)} of the {number(account.cost, account.digits)} {words}"
        )
    else:
        words = f"{number(cost, account.digits)} {words}"
    equals = sum(account.items.get(entry.control) == cost for entry in book.entries)
    name = shorten(visible(first.control), _NAME)
    if equals > 1:
        yield f"{equals} controls are the most expensive, with {words} each; the first is {name}."
    else:
        yield f"The most expensive control accounts for {words}: {name}."


def _dearest_on(book: Ledger, entry: Entry) -> Account | None:
    """Return the metric on which a control costs most; None if it costs nothing on any."""
    costly = [
        account
        for account in book.accounts
        if account.metric in entry.items
        and not is_free(entry.items[account.metric])
        and account.items[entry.control] > 0
    ]
    if book.by_share:
        return max(costly, key=lambda it: entry.items[it.metric].share, default=None)
    return max(costly, key=lambda it: it.items[entry.control], default=None)


def _ranked(book: Ledger, entries: Sequence[Entry]) -> Iterator[Ranked]:
    """Yield the first of `entries` as shown beside the answer."""
    sizes = []
    for entry in entries[:_DEAREST]:
        account = _dearest_on(book, entry)
        if account is not None:
            item = entry.items[account.metric]
            sizes.append((entry, account, item.share if book.by_share else item.cost))
    largest = max((size for *_, size in sizes), default=0.0)
    for entry, account, size in sizes:
        cost = signed(account.items[entry.control], account.digits)
        yield Ranked(
            visible(entry.control),
            f"{cost} {unit_words(account.unit)} on {visible(account.metric)}",
            size / largest if largest > 0 else 0.0,
            entry.number,
            visible(entry.place),
        )


def _searched(bill: Bill, book: Ledger) -> Iterator[str]:
    """Yield the result of a search: its culprits, and the cost of everything else together."""
    culprits = [entry.control for entry in book.entries]
    if not culprits:
        yield "The search confirmed no single control as the cause."
        return
    what = joined([shorten(visible(name), _NAME) for name in culprits[:_DEAREST]])
    more = f" and {len(culprits) - _DEAREST} more" if len(culprits) > _DEAREST else ""
    yield f"The search confirmed {count(len(culprits), 'culprit')}: {what}{more}."
    account = _dearest_on(book, book.entries[0])
    if account is not None and bill.rest:
        cost = account.items[culprits[0]]
        yield (
            f"On {quoted(account.metric)} the first makes {signed(cost, account.digits)} "
            f"{unit_words(account.unit)}; everything but the culprits makes "
            f"{signed(account.rest, account.digits)} together."
        )
