"""Marks in a bill what is a default anyway, and what another control switches off."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hardcost.profiles.kernel.defaults import default_of, switched_off

if TYPE_CHECKING:
    from hardcost.analysis.finding import Bill
    from hardcost.controls.control import Profile


def with_defaults(bill: Bill, profile: Profile) -> Bill:
    """Return the bill of a profile with whose default each control is; no number changes.

    Of a control that another switches off, the numbers do not show the cost.
    """
    seen = {item.control for item in bill.items if item.cost}
    off = {one: None for one, _ in switched_off(profile.controls) if one not in seen}
    by = {one.name: default_of(one, profile.controls) for one in profile.controls}
    return replace(
        bill,
        unshown=tuple(dict.fromkeys((*bill.unshown, *off))),
        items=tuple(replace(item, default=by.get(item.control)) for item in bill.items),
        small=tuple(replace(item, default=by.get(item.control)) for item in bill.small),
    )
