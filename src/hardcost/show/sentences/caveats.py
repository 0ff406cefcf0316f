"""Marks at numbers that don't show the whole cost, and the sentences that explain them."""

from __future__ import annotations

from collections.abc import Iterable

from hardcost.model.finding.bill import Item, Total
from hardcost.model.workload import MetricId
from hardcost.show.text import MARK, decimals, signed_number
from hardcost.units import join_in_prose, visible

PREDICTED = (
    "the cost model's prediction of `cost`, made before measuring; for a rule on a file, whose cost"
    " depends on the inode number, the mean over all inode numbers"
)
FIXED = (
    "what one audit rule costs that is on no call made, less what a second one adds: paid once,"
    " whatever the rules are; a rule's cost alone contains it"
)
INTERACTS = (
    "the part of the cost that no single control accounts for: a cost that several share is not"
    " saved by leaving out one; below zero, controls make each other more expensive"
)

_MOST_NAMES = 8
"""Most controls that a caveat names."""


def mark_caveat(text: str, item: Item) -> str:
    """Return a cost, marked if the item has a caveat."""
    return f"{text}{MARK}" if item.caveat else text


def caveat_words(items: Iterable[Item]) -> list[str]:
    """Return whose default a control is, and a pointer to its caveat, where it has one."""
    known = tuple(items)
    by = sorted({item.default for item in known if item.default})
    below = [f"{MARK} see below"] if any(item.caveat for item in known) else []
    return [*(f"default of the {one}" for one in by), *below]


def caveat_notes(items: Iterable[Item]) -> list[str]:
    """Return each caveat once, after its mark and the controls that it applies to.

    Of many controls, the first are named; their rows have the mark, too.
    """
    about: dict[str, dict[str, None]] = {}
    for item in items:
        if item.caveat:
            about.setdefault(item.caveat, {})[visible(item.control)] = None
    return [
        f"{MARK} {join_in_prose(_first_names(tuple(names)))}: {visible(caveat)}"
        for caveat, names in about.items()
    ]


def _first_names(names: tuple[str, ...]) -> tuple[str, ...]:
    if len(names) <= _MOST_NAMES:
        return names
    return (*names[: _MOST_NAMES - 1], f"{len(names) - _MOST_NAMES + 1:,} more")


def unresolved_metrics(totals: Iterable[Total]) -> frozenset[MetricId]:
    """Return the metrics whose totals are not distinguishable from 0."""
    return frozenset(total.metric for total in totals if total.may_be_nothing)


def unresolved_notes(totals: Iterable[Total]) -> list[str]:
    """Return the totals that may be nothing, each with its interval: they are not itemised."""
    notes = []
    for total in totals:
        if total.may_be_nothing:
            ends = (total.low or 0.0, total.high or 0.0)
            low, high = (signed_number(end, decimals(ends)) for end in ends)
            cost = (
                f"the cost is {low}"
                if low == high
                else f"the cost lies between {low} and {high}, so it is not distinguishable from 0"
            )
            notes.append(f"{MARK} {visible(total.metric)}: {cost}, and is not itemised")
    return notes
