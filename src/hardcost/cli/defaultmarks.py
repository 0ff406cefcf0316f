"""Marks the items of a bill that are a default of every system anyway."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hardcost.profiles.kernel.defaults import default_of

if TYPE_CHECKING:
    from hardcost.analysis.finding import Bill
    from hardcost.controls.control import Profile


def with_defaults(bill: Bill, profile: Profile) -> Bill:
    """Return the bill of a profile with whose default each control is; no number changes."""
    by = {one.name: default_of(one, profile.controls) for one in profile.controls}
    return replace(
        bill,
        items=tuple(replace(item, default=by.get(item.control)) for item in bill.items),
        small=tuple(replace(item, default=by.get(item.control)) for item in bill.small),
    )
