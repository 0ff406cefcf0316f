"""Both numbers of a bill: instructions counted in the emulator beside times of a real machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from hardcost.model.finding.bill import Bill, Both
from hardcost.model.workload import MetricId
from hardcost.show.bill_rows import BillRows, MetricFigures, rows_of_bill
from hardcost.show.tables.layout import Column, ColumnGroup, Grid, RowText
from hardcost.show.text import ABSENT, decimals, interval, number, percent, ratio, signed_number
from hardcost.units import visible

_CHANCE = "(~0)"
_WORDS = {
    "": "",
    "unknown": "time is too uncertain to say",
    "less": "time grows by less than half as much",
    "more": "time grows by more than twice as much",
    "direction": "the one grows, the other shrinks",
}
_TOLD = 5  # disagreements that a note lists

BOTH_TERMS = (
    ("ratio", "the baseline with this cost, as a multiple of the baseline"),
    ("by count", "the control's part of the whole profile's instructions, where time is noise"),
    (
        "apportioned",
        (
            "a part of the time's rest, by count: not measured, and no part of any sum; none where"
            " the rest is noise, too"
        ),
    ),
)
"""The words of these tables."""


def both_grids(finding: Bill, top: int, accounts: Sequence[MetricFigures]) -> list[Grid]:
    """Return both numbers of the whole profile, and of `top` controls on the accounts' metrics."""
    wholes = [one for one in finding.both or () if one.control is None]
    each = [one for one in finding.both or () if one.control is not None]
    if not wholes:
        return []
    found = [_totals(finding, wholes)]
    if each:
        shown = [one.metric for one in accounts if any(it.metric == one.metric for it in wholes)]
        found.append(_items(rows_of_bill(finding), each, top, shown))
    return found


def _totals(finding: Bill, wholes: Sequence[Both]) -> Grid:
    groups = [ColumnGroup("instructions", _counts(wholes)), ColumnGroup("time", _times(wholes))]
    if any(one.differ for one in wholes):
        words = tuple(_WORDS[one.differ] for one in wholes)
        groups.append(ColumnGroup("", (Column("they disagree", words, left=True),)))
    labels = (Column("metric", tuple(visible(one.metric) for one in wholes), left=True),)
    title = f"Both numbers, whole profile: {_machines(finding)}"
    return Grid(title, labels, tuple(groups), notes=tuple(_notes(wholes)))


def _items(rows: BillRows, each: Sequence[Both], top: int, metrics: Sequence[MetricId]) -> Grid:
    numbered = rows.entries[:top]
    known = {(one.control, one.metric): one for one in each}
    groups = []
    for metric in metrics:
        own = [known.get((entry.control, metric)) for entry in numbered]
        groups.append(ColumnGroup(visible(metric), _columns(own)))
    texts = tuple(RowText(visible(entry.control), visible(entry.place)) for entry in numbered)
    labels = [Column("#", tuple(str(entry.number) for entry in numbered))]
    fired = [_fired_count(each, entry.control) for entry in numbered]
    if any(one != ABSENT for one in fired):
        labels.append(Column("fired", tuple(fired)))
    shown = [one for one in each if one.metric in metrics]
    return Grid(
        "Both numbers, control by control",
        tuple(labels),
        tuple(groups),
        texts,
        "control",
        notes=tuple(_notes(shown)),
    )


def _columns(own: Sequence[Both | None]) -> tuple[Column, ...]:
    present = [one for one in own if one is not None]
    digits = decimals([one.ns for one in present] or [0])

    def apportioned_text(one: Both) -> str:
        return ABSENT if one.apportioned is None else f"≈{number(one.apportioned, digits)}"

    def share(one: Both) -> str:
        return ABSENT if one.measured or one.share is None else percent(one.share)

    return (
        *(_spread_cells(column, own) for column in _counts(present)),
        *(_spread_cells(column, own) for column in _times(present)),
        Column("by count", _cells(own, share)),
        Column("apportioned", _cells(own, apportioned_text)),
    )


def _spread_cells(column: Column, own: Sequence[Both | None]) -> Column:
    """Return a column of the entries that there are with a place for each of those there may be."""
    cells = iter(column.cells)
    return Column(column.header, tuple(ABSENT if one is None else next(cells) for one in own))


def _cells(own: Sequence[Both | None], shown: Callable[[Both], str]) -> tuple[str, ...]:
    return tuple(ABSENT if one is None else shown(one) for one in own)


def _counts(some: Sequence[Both]) -> tuple[Column, ...]:
    digits = decimals([one.insn for one in some] or [0])
    return (
        Column("insn", tuple(signed_number(one.insn, digits) for one in some)),
        Column("ratio", tuple(ratio(one.insn_ratio) for one in some)),
    )


def _times(some: Sequence[Both]) -> tuple[Column, ...]:
    digits = decimals([one.ns for one in some] or [0])
    shown = (
        signed_number(one.ns, digits)
        + interval(one.ns, one.ns_low, one.ns_high, digits).removeprefix(number(one.ns, digits))
        if one.measured
        else _CHANCE
        for one in some
    )
    ratios = (ratio(one.ns_ratio) if one.measured else ABSENT for one in some)
    return (Column("ns", tuple(shown)), Column("ratio", tuple(ratios)))


def _fired_count(each: Iterable[Both], control: str) -> str:
    known = [one.fired for one in each if one.control == control and one.fired is not None]
    return f"{sum(known):,}" if known else ABSENT


def _notes(some: Sequence[Both]) -> Iterator[str]:
    """Yield where the two disagree, and why that may be."""
    differing = [one for one in some if one.disagrees]
    for one in differing[:_TOLD]:
        what = visible(one.metric)
        if one.control is not None:
            what += f", {visible(one.control)}"
        time = ratio(one.ns_ratio) if one.measured else "not distinguishable from noise"
        yield (
            f"{what}: {_WORDS[one.differ]} ({time} in time, {ratio(one.insn_ratio)} in"
            f" instructions); likely: {one.why}"
        )
    if len(differing) > _TOLD:
        yield f"{len(differing) - _TOLD} more disagree by so much"


def _machines(finding: Bill) -> str:
    kernel = finding.counted_on.get("kernel", "another kernel")
    where = visible(finding.counted_on.get("machine", ""))
    own = visible(finding.environment.get("kernel", "its kernel"))
    return (
        f"instructions counted on the machine {where}, kernel {visible(kernel)}; ns on"
        f" {visible(finding.machine)}, kernel {own}"
    )
