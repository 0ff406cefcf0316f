"""The growth from one finished run to another: of two bills by control, else cell by cell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from hardcost.analysis.bill.fixed_price import SPREAD
from hardcost.analysis.change.comparison import compare_runs, warnings_on_one_kernel
from hardcost.analysis.change.growth import largest_first, lines_of
from hardcost.errors import InputError
from hardcost.model.finding.bill import Bill, Item, Itemised, Total
from hardcost.model.finding.change import Change, ChangeLine, Contribution, Gate, Growth, Unknown
from hardcost.model.finding.comparison import ComparedCell
from hardcost.model.finding.head import Found
from hardcost.model.workload import MetricId, metric_among


def gate_of(base: Found, head: Found, names: tuple[str, str]) -> Gate:
    """Return the growth from run `base` to run `head`, which the user calls `names`.

    Raises:
        InputError: They have no number in common, such as one of instructions and one of times.
    """
    comparison = compare_runs(base, head)
    if isinstance(base, Bill) and isinstance(head, Bill):
        growths, lost = _of_bills(base, head)
    else:
        growths = tuple(_of_cells(comparison.cells))
        lost = tuple(
            Unknown(MetricId(cell.metric), f"only in {name}", cell.configuration)
            for cells, name in (
                (comparison.only_before, names[0]),
                (comparison.only_after, names[1]),
            )
            for cell in cells
        )
    if not growths:
        raise InputError(
            f"{names[0]} and {names[1]} have no metric in common", hint=_why(base, head)
        )
    return Gate(
        base=names[0],
        head=names[1],
        how="measured",
        conditions=conditions(head),
        growths=growths,
        lines=lines_of(growths),
        unknown=lost,
        warnings=warnings_on_one_kernel(comparison),
        runs=tuple(dict.fromkeys((base.run, head.run))),
    )


def _why(base: Found, head: Found) -> str | None:
    if base.instrument != head.instrument:
        return f"one has instrument {base.instrument}, the other {head.instrument}"
    return None


def conditions(finding: Found) -> tuple[str, ...]:
    """Return the conditions under which a run's numbers hold."""
    named = (("kernel", "kernel"), ("qemu", "QEMU"), ("cpu_model", "processor model"))
    known = [f"{name} {finding.environment[k]}" for k, name in named if k in finding.environment]
    return (f"instrument {finding.instrument}", f"machine {finding.machine}", *known)


def _of_cells(cells: Sequence[ComparedCell]) -> Iterable[Growth]:
    """Yield the growth of each cell that both runs have."""
    workloads = {cell.workload for cell in cells}
    for cell in cells:
        yield Growth(
            metric=metric_among(workloads, cell.workload, cell.metric),
            unit=str(cell.unit),
            base=cell.before.value,
            head=cell.value,
            low=cell.low - cell.before.high,
            high=cell.high - cell.before.low,
            least=cell.least,
            configuration=cell.configuration,
        )


def _of_bills(base: Itemised, head: Itemised) -> tuple[tuple[Growth, ...], tuple[Unknown, ...]]:
    """Return the growth of each metric that both bills have, and the metrics of one alone."""
    earlier = {(total.metric, total.unit): total for total in base.totals}
    later = {(total.metric, total.unit): total for total in head.totals}
    parts, fixed = _parts(base, head), _fixed_growth(base, head)
    growths = tuple(
        _growth(earlier[key], total, parts.get(key[0], []), fixed.get(key[0]))
        for key, total in later.items()
        if key in earlier
    )
    lost = (Unknown(metric, "in one bill alone") for metric, _ in earlier.keys() ^ later.keys())
    return growths, tuple(sorted(lost, key=str))


def _fixed_growth(base: Itemised, head: Itemised) -> dict[MetricId, float]:
    """Return by metric how much more having any rule costs in the later bill, if both know it.

    Two prices that chance could make differ are the same.
    """
    earlier = {one.metric: one for one in base.fixed}
    least = {one.metric: SPREAD * one.cost for one in (*base.least, *head.least)}
    found = {}
    for b in head.fixed:
        a = earlier.get(b.metric)
        if a is not None:
            more = b.cost - a.cost
            chance = max(a.half + b.half, least.get(b.metric, 0.0))
            found[b.metric] = more if abs(more) > chance else 0.0
    return found


def _growth(a: Total, b: Total, parts: list[Contribution], fixed: float | None) -> Growth:
    difference = b.with_profile - a.with_profile
    spread = sum(
        (one.high - one.low) / 2 for one in (a, b) if one.low is not None and one.high is not None
    )
    return Growth(
        metric=b.metric,
        unit=b.unit,
        base=a.with_profile,
        head=b.with_profile,
        low=difference - spread,
        high=difference + spread,
        least=max(a.least, b.least),
        before=a.cost,
        after=b.cost,
        parts=largest_first(parts),
        fixed=fixed,
    )


def _parts(base: Itemised, head: Itemised) -> dict[MetricId, list[Contribution]]:
    """Return by metric the change of each control whose cost differs in the later bill."""
    earlier, later = _items(base), _items(head)
    listed = bool(base.controls and head.controls)  # a file of JSON doesn't list them
    both = set(base.controls) & set(head.controls)
    found: dict[MetricId, list[Contribution]] = {}
    for key in dict.fromkeys((*later, *earlier)):
        a, b = earlier.get(key), later.get(key)
        cost = (b.cost if b else 0.0) - (a.cost if a else 0.0)
        spread = sum((one.high - one.low) / 2 for one in (a, b) if one is not None)
        if cost and abs(cost) > spread:
            line = _change_line(key[0], a, b, known=key[0] in both or not listed)
            found.setdefault(key[1], []).append(
                Contribution(line, cost, cost - spread, cost + spread)
            )
    return found


def _change_line(control: str, a: Item | None, b: Item | None, *, known: bool) -> ChangeLine:
    change = Change.CHANGED
    if not known and (a is None) != (b is None):
        change = Change.ADDED if a is None else Change.REMOVED
    place = next((one.place for one in (b, a) if one is not None and one.place), None)
    return ChangeLine(place, control, change)


def _items(bill: Itemised) -> Mapping[tuple[str, MetricId], Item]:
    return {(item.control, item.metric): item for item in bill.items}
