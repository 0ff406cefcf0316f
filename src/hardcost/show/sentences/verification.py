"""How a bill's costs are known: measured one by one, or verified in groups."""

from __future__ import annotations

from collections.abc import Iterator

from hardcost.model.finding.bill import Itemised
from hardcost.units import count

_KNOWN = (
    "how a cost is known. measured: by leaving out just this control. verified: it was predicted,"
    " and trials that left out groups of controls with this one saved what was predicted of the"
    " group, to within `least`"
)
NOT_ALONE = "; `-`: not measured, since the control's cost was verified in groups"

_SURE = 3  # errors of so many controls never cancel in all groups


def verification_lines(bill: Itemised) -> Iterator[str]:
    """Yield in how many groups how many costs were verified; nothing of a bill without any."""
    made = bill.verification
    if made is None:
        return
    verified = verified_controls(bill)
    one_by_one = len(bill.controls) - len(verified)
    line = (
        f"{count(len(verified), 'control')} verified: {_costs(len(verified))} predicted, and"
        f" confirmed by leaving out {count(made.groups, 'group')} of controls."
    )
    if one_by_one:
        line += f" {count(one_by_one, 'other')} measured one by one."
    if made.wrong:
        what = "prediction was" if len(made.wrong) == 1 else "predictions were"
        line += f" {len(made.wrong)} {what} wrong, found by the groups, and measured instead."
    yield line


def known_words(bill: Itemised) -> Iterator[str]:
    """Yield what measured and verified mean, and what groups could not have shown."""
    made = bill.verification
    if made is None:
        return
    rarity = 1 / made.escaping if made.escaping else float("inf")
    yield (
        f"{_KNOWN}. Predictions are by {made.prior}. Wrong ones of up to {_SURE} controls always"
        f" show in one of the {made.groups} groups; those of four or more escape only if they"
        " cancel in each group: two too high and two as much too low do in one of"
        f" {rarity:,.0f} bills"
    )


def verified_controls(bill: Itemised) -> frozenset[str]:
    """Return the controls whose cost was verified in groups."""
    return frozenset(
        item.control for item in (*bill.items, *bill.small) if item.known == "verified"
    )


def _costs(number: int) -> str:
    return "its cost was" if number == 1 else "their costs were"
