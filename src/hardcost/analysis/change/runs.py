"""What grew from one finished run to another: of two bills by control, else cell by cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.analysis.fixedprice import SPREAD
from hardcost.analysis.growth import Change, Gate, Growth, Line, Part, lines_of, ordered
from hardcost.errors import InputError
from hardcost.report.comparison import compared

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hardcost.analysis.finding import Bill, Finding, Item, Total
    from hardcost.report.comparison import Pair


def gate_of(base: Finding, head: Finding, names: tuple[str, str]) -> Gate:
    """Return what grew from run `base` to run `head`; `names` are what the user calls them.

    Raises:
        InputError: They have no number in common, such as one of instructions and one of times.
    """
    comparison = compared(base, head)
    if base.bill is not None and head.bill is not None:
        growths, lost = _of_bills(base.bill, head.bill)
    else:
        growths = tuple(_of_cells(comparison.pairs))
        lost = tuple(
            f"{cell.configuration}: {cell.metric} (only in {name})"
            for cells, name in ((comparison.only_a, names[0]), (comparison.only_b, names[1]))
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
        conditions=_conditions(head),
        growths=growths,
        lines=lines_of(growths),
        unknown=lost,
        warnings=comparison.on_one_kernel,
        runs=tuple(dict.fromkeys((base.run, head.run))),
    )


def _why(base: Finding, head: Finding) -> str | None:
    if base.instrument != head.instrument:
        return f"one has instrument {base.instrument}, the other {head.instrument}"
    return None


def _conditions(finding: Finding) -> tuple[str, ...]:
    """Return under what a run's numbers hold."""
    named = (("kernel", "kernel"), ("qemu", "QEMU"), ("cpu_model", "processor model"))
    known = [f"{name} {finding.environment[k]}" for k, name in named if k in finding.environment]
    return (f"instrument {finding.instrument}", f"machine {finding.machine}", *known)


def _of_cells(pairs: Iterable[Pair]) -> Iterable[Growth]:
    """Yield the growth of each cell that both runs have."""
    found = list(pairs)
    several = len({pair.a.workload for pair in found}) > 1
    for pair in found:
        a, b = pair.a, pair.b
        yield Growth(
            metric=f"{a.workload} {a.metric}" if several else a.metric,
            unit=str(a.unit),
            base=a.value,
            head=b.value,
            low=b.low - a.high,
            high=b.high - a.low,
            least=pair.least,
            configuration=a.configuration,
        )


def _of_bills(base: Bill, head: Bill) -> tuple[tuple[Growth, ...], tuple[str, ...]]:
    """Return the growth of each metric that both bills have, and the metrics of one alone."""
    earlier = {(total.metric, total.unit): total for total in base.totals}
    later = {(total.metric, total.unit): total for total in head.totals}
    parts, fixed = _parts(base, head), _fixed(base, head)
    growths = tuple(
        _growth(earlier[key], total, parts.get(key[0], []), fixed.get(key[0]))
        for key, total in later.items()
        if key in earlier
    )
    lost = tuple(f"{metric} (in one bill alone)" for metric, _ in earlier.keys() ^ later.keys())
    return growths, tuple(sorted(lost))


def _fixed(base: Bill, head: Bill) -> dict[str, float]:
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


def _growth(a: Total, b: Total, parts: list[Part], fixed: float | None) -> Growth:
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
        parts=ordered(parts),
        fixed=fixed,
    )


def _parts(base: Bill, head: Bill) -> dict[str, list[Part]]:
    """Return by metric what each control adds that costs more or less in the later bill."""
    earlier, later = _items(base), _items(head)
    listed = bool(base.controls and head.controls)  # a file of JSON doesn't list them
    both = set(base.controls) & set(head.controls)
    found: dict[str, list[Part]] = {}
    for key in dict.fromkeys((*later, *earlier)):
        a, b = earlier.get(key), later.get(key)
        cost = (b.cost if b else 0.0) - (a.cost if a else 0.0)
        spread = sum((one.high - one.low) / 2 for one in (a, b) if one is not None)
        if cost and abs(cost) > spread:
            line = _line(key[0], a, b, known=key[0] in both or not listed)
            found.setdefault(key[1], []).append(Part(line, cost, cost - spread, cost + spread))
    return found


def _line(control: str, a: Item | None, b: Item | None, *, known: bool) -> Line:
    change = Change.CHANGED
    if not known and (a is None) != (b is None):
        change = Change.ADDED if a is None else Change.REMOVED
    place = next((one.place for one in (b, a) if one is not None and one.place), "")
    file, _, line = place.rpartition(":")
    if file and line.isdecimal():
        return Line(file, int(line), control, change)
    return Line(place, None, control, change)


def _items(bill: Bill) -> Mapping[tuple[str, str], Item]:
    return {(item.control, item.metric): item for item in bill.items}
