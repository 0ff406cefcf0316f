"""A bill on a terminal: the profile's cost on each metric, then each control's cost."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from rich.console import ConsoleRenderable

from hardcost.analysis.bill.weights import AVERAGE
from hardcost.errors import InputError
from hardcost.model.finding.bill import Bill, Item, Itemised
from hardcost.model.finding.cell import Cell
from hardcost.model.role import AuditOff
from hardcost.model.workload import MetricId
from hardcost.show.bill_rows import (
    FEW,
    BillRow,
    BillRows,
    MetricFigures,
    bill_size,
    others,
    rows_of_bill,
)
from hardcost.show.sentences.amounts import metric_words
from hardcost.show.sentences.answer import baseline_words, by_metric
from hardcost.show.sentences.caveats import (
    FIXED,
    INTERACTS,
    PREDICTED,
    caveat_notes,
    caveat_words,
    mark_caveat,
    unresolved_metrics,
    unresolved_notes,
)
from hardcost.show.sentences.failures import unmeasured_lines
from hardcost.show.sentences.search_steps import search_lines
from hardcost.show.sentences.verification import NOT_ALONE, known_words, verified_controls
from hardcost.show.tables.accounting import accounting_line
from hardcost.show.tables.equal_rows import share_numbers
from hardcost.show.tables.first_screen import answer_and_advice
from hardcost.show.tables.layout import (
    Column,
    ColumnGroup,
    Grid,
    GridText,
    Layout,
    RowText,
    Terms,
    TextLines,
    without_optional,
)
from hardcost.show.tables.run import conditions_line, instrument_and_machine, note_lines
from hardcost.show.tables.time_and_count import BOTH_TERMS, both_grids
from hardcost.show.text import ABSENT, MARK, interval, number, percent, ratio, signed_number
from hardcost.units import count, join_in_prose, visible

_CHANCE = "(~0)"
_ALONE = "what the control costs by itself, with nothing else of the profile on"
_CHOSEN, _NAMED = 4, 3

_RANGES = 10_000
"""Most costs in the table of every cost that have their intervals beside them."""

_BARS = 20
"""Most bars of a metric in the table of every cost."""


def bill_table(finding: Bill, top: int = 20, metrics: Sequence[str] = ()) -> ConsoleRenderable:
    """Return a whole bill for a terminal: totals for each metric, then `top` controls one by one.

    `metrics` names the metrics with a column in the itemised table. Without it, a bill with few
    metrics shows all; a bill with many shows what leads it and the most expensive ones.

    Raises:
        InputError: the bill lacks one of the metrics.
    """
    grids = bill_grids(finding, top, metrics)
    return Layout(
        (
            *answer_and_advice(finding),
            TextLines((bill_heading(finding), *conditions_line(finding))),
            *(GridText(grid) for grid in grids),
            *(GridText(one) for one in both_grids(finding, top, accounts_of(finding, metrics))),
            *([TextLines(tuple(unmeasured_lines(finding)))] if finding.unmeasured else []),
            *([TextLines((accounting_line(finding.accounting),))] if finding.accounting else []),
            *([TextLines(tuple(search_lines(finding.search)))] if finding.search else []),
            *([TextLines(tuple(note_lines(finding)))] if finding.notes else []),
            Terms((*reading_guide(finding), *(BOTH_TERMS if finding.counted_on else ()))),
        )
    )


def accounts_of(finding: Bill, metrics: Sequence[str] = ()) -> list[MetricFigures]:
    """Return the metrics that have columns in the itemised tables; none of an empty bill."""
    rows = rows_of_bill(finding)
    return _chosen_metrics(rows, metrics) if rows.accounts else []


def bill_heading(finding: Bill) -> str:
    """Return the bill's profile and what it was measured with."""
    named = finding.profile_title
    title = f" ({visible(named)})" if named and named != finding.profile else ""
    against = f"; compared with: {visible(finding.compared_with)}" if finding.compared_with else ""
    size = bill_size(finding, searched=finding.search is not None)
    where = instrument_and_machine(finding)
    return f"Bill for {visible(finding.profile)}{title}: {size}{against}; {where}"


def reading_guide(bill: Itemised) -> tuple[tuple[str, str], ...]:
    """Return each word that a bill uses in a special sense, with its meaning."""
    terms = [
        ("cost", "what leaving this one control out of the profile saves"),
        *([("without", bill.compared_with)] if bill.compared_with else []),
        ("alone", _ALONE + NOT_ALONE * (bill.verification is not None)),
        *(("known", said) for said in known_words(bill)),
    ]
    if any(one.cost for one in bill.fixed):
        terms.append((_ANY, FIXED))
    if any(one.cost for one in bill.interaction):
        terms.append(("interaction", INTERACTS))
    if _shows_predictions(bill):
        terms.append(("predicted", PREDICTED))
    if any(item.findings for item in bill.items):
        terms.append(("lint", "diagnostics for a rule; `hardcost rules lint` explains them"))
    if any(remainder.cost for remainder in bill.rest):
        terms.append(("rest", "the sum of all costs that are not distinguishable from 0"))
    terms += _least_terms(bill)
    if any(item.fired is not None for item in bill.items):
        terms.append(("fired", "audit records that the control caused, over all metrics"))
    return tuple(terms)


def _shows_predictions(bill: Itemised) -> bool:
    """Say whether predictions have a column: verified costs are what was predicted."""
    return bill.verification is None and any(item.predicted is not None for item in bill.items)


def _least_terms(bill: Itemised) -> list[tuple[str, str]]:
    """Return the smallest distinguishable cost, and how smaller costs are marked."""
    placebos = max((one.placebos for one in bill.least), default=0)
    if not placebos:
        return [("least", "unknown: no placebos were measured, so a small cost may be chance")]
    terms = [
        (
            "least",
            (
                "a cost of up to this is not distinguishable from 0: "
                f"{count(placebos, 'placebo')}, which change nothing, seemed to cost as much"
            ),
        )
    ]
    itemised = {(item.control, item.metric) for item in bill.items}
    every = {control for control, _ in itemised} | set(bill.controls)
    if any(
        not total.distinguishable or (control, total.metric) not in itemised
        for total in bill.totals
        for control in every
    ):
        terms.append((_CHANCE, "not distinguishable from 0"))
    return terms


def bill_grids(finding: Bill, top: int, metrics: Sequence[str] = ()) -> list[Grid]:
    """Return the bill's tables: the totals, and the items with the remainder up to the totals."""
    rows = rows_of_bill(finding)
    if not rows.accounts:
        return []
    shown, hidden = rows.entries[:top], rows.entries[top:]
    return [
        _totals_grid(finding, rows, shown, hidden),
        _items_grid(finding, rows, shown, hidden, _chosen_metrics(rows, metrics)),
    ]


def matrix_grid(finding: Bill) -> Grid:
    """Return every control's cost on every metric, and the remainder up to the totals.

    Neighbours with equal costs have one row of numbers.
    """
    rows = rows_of_bill(finding)
    measured = [account for account in rows.accounts if account.metric != AVERAGE]
    entries: Sequence[BillRow] = rows.entries
    notes: list[str] = []
    if len(entries) * len(measured) > _RANGES:
        entries = [_without_intervals(entry) for entry in entries]
        shell = shlex.join(["hardcost", "report", finding.run, "--format", "json"])
        notes = [f"`{visible(shell)}` prints intervals, where costs have any."]
    grid = _items_grid(finding, rows, entries, (), measured)
    columns = tuple(
        ColumnGroup("", (replace(column, header=group.title, bars=_tallest(column.bars)),))
        for group in without_optional(grid).groups
        for column in group.columns
    )
    title = f"Every cost: {_unit(finding, rows)}"
    notes = [*grid.notes, *notes]
    whole = replace(grid, groups=columns, title=title, notes=tuple(notes), flowing=True)
    return share_numbers(whole)


def _without_intervals(entry: BillRow) -> BillRow:
    points = {
        metric: replace(item, low=item.cost, high=item.cost) for metric, item in entry.items.items()
    }
    return replace(entry, items=points)


def _tallest(bars: tuple[float, ...]) -> tuple[float, ...]:
    """Return the bars that stand out, at most `_BARS`; the others are 0."""
    least = max(sorted(bars)[:-_BARS], default=0.0)
    return tuple(bar if bar > least else 0.0 for bar in bars)


def _unit(finding: Bill, rows: BillRows) -> str:
    units = {account.unit for account in rows.accounts}
    unit = f"{visible(units.pop())}, " if len(units) == 1 else ""
    return f"{unit}{instrument_and_machine(finding)}"


def _totals_grid(
    finding: Bill, rows: BillRows, shown: Sequence[BillRow], hidden: Sequence[BillRow]
) -> Grid:
    """Return the cost of each metric without and with the profile, and its parts."""
    accounts, known = rows.accounts, finding.totals
    unclear = unresolved_metrics(known)
    labels = [Column("metric", tuple(visible(account.metric) for account in accounts), left=True)]
    if len({account.unit for account in accounts}) > 1:
        labels.append(Column("unit", tuple(visible(a.unit) for a in accounts), left=True))
    off = by_metric(finding, AuditOff())
    costs = (
        Column("without", tuple(number(a.baseline, a.digits) for a in accounts)),
        Column("with", tuple(number(a.with_profile, a.digits) for a in accounts)),
        Column("cost", tuple(_total_cost(a) + MARK * (a.metric in unclear) for a in accounts)),
        *([Column("least", tuple(_least(a) for a in accounts))] if rows.has_least else []),
        Column("ratio", tuple(times(account) for account in accounts)),
    )
    dearest = [_dearest(rows, account) for account in accounts]
    most = (
        Column("most", tuple(amount for amount, _ in dearest), optional=True),
        Column("by", tuple(who for _, who in dearest), left=True, optional=True),
    )
    made_of = [Column(_span(shown), tuple(signed_number(a.of(shown), a.digits) for a in accounts))]
    if hidden:
        header = f"+ {len(hidden)} others"
        made_of.append(
            Column(header, tuple(signed_number(a.of(hidden), a.digits) for a in accounts))
        )
    if any(account.fixed for account in accounts):
        fixed = tuple(signed_number(account.fixed, account.digits) for account in accounts)
        made_of.append(Column("+ any rule", fixed))
    if any(account.rest for account in accounts):
        made_of.append(Column("+ rest", tuple(signed_number(a.rest, a.digits) for a in accounts)))
    if any(account.interaction for account in accounts):
        interaction = tuple(
            signed_number(account.interaction, account.digits) for account in accounts
        )
        made_of.append(Column("+ interaction", interaction))
    return Grid(
        f"What the profile costs: {_unit(finding, rows)}; {_baseline_note(finding)}",
        tuple(labels),
        (
            ColumnGroup("", costs),
            ColumnGroup("one control", most),
            ColumnGroup("cost is made of", tuple(made_of)),
            *([ColumnGroup("", (_audit_off(accounts, off),))] if off else []),
        ),
        notes=(*(a.fault for a in accounts if a.fault), *unresolved_notes(known)),
    )


def _baseline_note(finding: Bill) -> str:
    """Return the meanings of `without` and `audit off`."""
    without = f"without: {baseline_words(finding)}"
    off = visible(finding.audit_off)
    return f"{without}; audit off: {off}" if by_metric(finding, AuditOff()) else without


def _audit_off(accounts: Sequence[MetricFigures], off: Mapping[MetricId, Cell]) -> Column:
    """Return each metric's value where audit is off."""
    values = (off.get(account.metric) for account in accounts)
    shown = (
        ABSENT if cell is None else number(cell.value, account.digits)
        for cell, account in zip(values, accounts, strict=True)
    )
    return Column("audit off", tuple(shown))


def _total_cost(account: MetricFigures) -> str:
    """Return the profile's cost, marked if it is not distinguishable from chance."""
    shown = signed_number(account.cost, account.digits)
    return f"{shown} {_CHANCE}" if account.by_chance else shown


def _least(account: MetricFigures) -> str:
    return number(account.least, account.digits) if account.least else "0"


def _span(shown: Sequence[BillRow]) -> str:
    if not shown:
        return "none"
    return f"#{shown[0].number}-#{shown[-1].number}" if len(shown) > 1 else f"#{shown[0].number}"


def times(account: MetricFigures) -> str:
    """Return the metric with the profile as a multiple of the baseline."""
    return ratio(float(account.with_profile / account.baseline)) if account.baseline else ABSENT


def _dearest(rows: BillRows, account: MetricFigures) -> tuple[str, str]:
    """Return the largest cost of one control on a metric, and its number, or how many share it."""
    costs = [account.items.get(entry.control, Decimal(0)) for entry in rows.entries]
    if not costs or max(costs) <= 0:
        return ABSENT, ""
    most = max(costs)
    equals = costs.count(most)
    first = f"#{rows.entries[costs.index(most)].number}"
    return signed_number(most, account.digits), first if equals == 1 else f"each of {equals}"


def _chosen_metrics(rows: BillRows, metrics: Sequence[str]) -> list[MetricFigures]:
    """Return the metrics that have columns: the requested ones, all of few, or a selection."""
    if metrics:
        known = [str(account.metric) for account in rows.accounts]
        for metric in metrics:
            if metric not in known:
                hint = f"it has: {', '.join(map(visible, known))}"
                raise InputError(f"the bill has no metric {metric!r}", hint=hint)
        return [account for account in rows.accounts if str(account.metric) in metrics]
    leading = rows.leading
    if len(rows.accounts) <= FEW or leading is None:
        return sorted(rows.accounts, key=lambda account: account is not leading)
    clear = [a for a in rows.accounts if a is not leading and not a.by_chance]
    return [leading, *sorted(clear, key=_relative, reverse=True)][:_CHOSEN]


def _relative(account: MetricFigures) -> Decimal:
    return account.cost / account.baseline if account.baseline else Decimal(0)


def _items_grid(
    finding: Bill,
    rows: BillRows,
    shown: Sequence[BillRow],
    hidden: Sequence[BillRow],
    chosen: Sequence[MetricFigures],
) -> Grid:
    """Return a row for each control, then the remainder, then the total, which is their sum."""
    few = len(rows.accounts) <= FEW
    tail = _tail(hidden, chosen)
    below = [_fired_count(hidden) if name == _OTHERS else "" for name in tail[:-1]]
    fired = [*(_fired_count([entry]) for entry in shown), *below, _fired_count(rows.entries)]
    labels = [Column("#", (*(str(entry.number) for entry in shown), *("" for _ in tail)))]
    if any(entry.fired is not None for entry in rows.entries):
        labels.append(Column("fired", tuple(fired)))
    if finding.verification is not None:
        verified = verified_controls(finding)
        known = ("verified" if entry.control in verified else "measured" for entry in shown)
        labels.append(Column("known", (*known, *("" for _ in tail)), left=True))
    groups = tuple(
        _account_group(
            rows,
            account,
            shown,
            hidden,
            tail,
            full=few or account is chosen[0],
            predicted=_shows_predictions(finding),
        )
        for account in chosen
    )
    columns = {account.metric for account in chosen}
    texts = [
        RowText(
            visible(entry.control), visible(entry.place), _elsewhere(rows, entry, columns, chosen)
        )
        for entry in shown
    ]
    texts += [RowText(others(len(hidden)) if name == _OTHERS else name, sum=True) for name in tail]
    by = "" if rows.leading is None else f", by its cost on {metric_words(rows.leading.metric)}"
    return Grid(
        f"What each control costs{by}: {_unit(finding, rows)}",
        tuple(labels),
        groups,
        tuple(texts),
        "control",
        frozenset({len(shown), len(shown) + len(tail) - 1}),
        (*_sum_note(chosen), *caveat_notes(_items(shown))),
        tuple(f"control-{entry.number}" for entry in shown) + tuple("" for _ in tail),
    )


_OTHERS, _ANY, _REST = "others", "having any rule", "rest"
_INTERACTION, _TOTAL = "interaction", "total"


def _tail(hidden: Sequence[BillRow], chosen: Sequence[MetricFigures]) -> list[str]:
    """Return the names of the rows below the controls."""
    names = [_OTHERS] if hidden else []
    names += [_ANY] if any(account.fixed for account in chosen) else []
    names += [_REST] if any(account.rest for account in chosen) else []
    names += [_INTERACTION] if any(account.interaction for account in chosen) else []
    return [*names, _TOTAL]


def _fired_count(entries: Sequence[BillRow]) -> str:
    known = [entry.fired for entry in entries if entry.fired is not None]
    return f"{sum(known):,}" if known else ABSENT


def _account_group(  # noqa: PLR0913 - the parts of a bill; bundling them would only rename them
    rows: BillRows,
    account: MetricFigures,
    shown: Sequence[BillRow],
    hidden: Sequence[BillRow],
    tail: Sequence[str],
    *,
    full: bool,
    predicted: bool,
) -> ColumnGroup:
    """Return one metric's columns; `full` adds the share and each control's cost alone.

    `predicted`: and the prediction.
    """
    sums = {
        _OTHERS: account.of(hidden),
        _ANY: account.fixed,
        _REST: account.rest,
        _INTERACTION: account.interaction,
        _TOTAL: account.cost,
    }
    costs = [_cost(account, entry) for entry in shown]
    costs += [signed_number(sums[name], account.digits) for name in tail]
    columns = [Column("cost", tuple(costs), bars=_bars(account, shown, len(tail)))]
    if full:
        amounts = [account.of([entry]) for entry in shown] + [sums[name] for name in tail]
        shares = tuple(_share(amount, account.cost) for amount in amounts)
        alone = [_cost_alone(account, entry) for entry in shown] + ["" for _ in tail]
        columns.append(Column("share", shares, optional=True))
        columns.append(Column("alone", tuple(alone), optional=True))
        if predicted:
            guess = [_predicted_cost(account, entry) for entry in shown] + ["" for _ in tail]
            columns.insert(1, Column("predicted", tuple(guess)))
    several = len({other.unit for other in rows.accounts}) > 1
    title = visible(account.metric) + (f", {visible(account.unit)}" if several else "")
    return ColumnGroup(title, tuple(columns))


def _bars(account: MetricFigures, shown: Sequence[BillRow], tail: int) -> tuple[float, ...]:
    """Return each control's cost relative to the largest among them; sums have no bars."""
    costs = [float(account.of([entry])) for entry in shown]
    largest = max(costs, default=0.0)
    if largest <= 0:
        return ()
    return (*(max(cost, 0.0) / largest for cost in costs), *(0.0 for _ in range(tail)))


def _cost(account: MetricFigures, entry: BillRow) -> str:
    """Return a control's cost, with its interval unless that is a point."""
    item = entry.items.get(account.metric)
    if item is None:
        return _CHANCE
    shown = signed_number(account.items[entry.control], account.digits)
    return mark_caveat(_with_interval(shown, item, account), item)


def _with_interval(shown: str, item: Item, account: MetricFigures) -> str:
    if item.low == item.cost == item.high:
        return shown
    return shown + interval(item.cost, item.low, item.high, account.digits).removeprefix(
        number(item.cost, account.digits)
    )


def _cost_alone(account: MetricFigures, entry: BillRow) -> str:
    item = entry.items.get(account.metric)
    if item is None or item.alone is None:
        return ABSENT
    shown = signed_number(item.alone, account.digits)
    return f"{shown} {_CHANCE}" if 0 < abs(item.alone) <= account.least else shown


def _predicted_cost(account: MetricFigures, entry: BillRow) -> str:
    item = entry.items.get(account.metric)
    if item is None or item.predicted is None:
        return ABSENT
    return signed_number(item.predicted, account.digits)


def _share(amount: Decimal, of: Decimal) -> str:
    return percent(float(amount / of)) if of else ABSENT


def _elsewhere(
    rows: BillRows, entry: BillRow, columns: set[MetricId], chosen: Sequence[MetricFigures]
) -> str:
    """Return where else a control costs more, lint's diagnostics, and pointers to caveats."""
    usual = chosen[0].items.get(entry.control, Decimal(0))
    more = [
        (account.items[entry.control], account)
        for account in rows.accounts
        if account.metric not in columns | {AVERAGE}
        and account.items.get(entry.control, usual) > usual
    ]
    more.sort(key=lambda pair: -pair[0])
    named = [f"{visible(a.metric)} {signed_number(cost, a.digits)}" for cost, a in more[:_NAMED]]
    left = len(more) - _NAMED
    if left > 0:
        named.append(f"{left} more")
    found = {code for item in entry.items.values() for code in item.findings}
    parts = [f"more on {join_in_prose(named)}"] if named else []
    parts += [f"lint: {join_in_prose(sorted(found))}"] if found else []
    parts += caveat_words(entry.items.values())
    return "; ".join(parts)


def _items(entries: Sequence[BillRow]) -> list[Item]:
    return [item for entry in entries for item in entry.items.values()]


def _sum_note(chosen: Sequence[MetricFigures]) -> list[str]:
    """Return that the columns add up, if they do."""
    return [] if any(a.fault for a in chosen) else ["Each cost column adds up to its total."]
