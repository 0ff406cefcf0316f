"""Marks in a bill what is a default anyway, and what another control switches off."""

from __future__ import annotations

from dataclasses import replace

from hardcost.model.finding.bill import Itemised
from hardcost.profiles.kernel.defaults import Defaults


def with_defaults(bill: Itemised, known: Defaults) -> Itemised:
    """Return a bill with whose default each control is; no number changes.

    Of a control that another switches off, the numbers do not show the cost.
    """
    seen = {item.control for item in bill.items if item.cost}
    off = {one: None for one, _ in known.off if one not in seen}
    return replace(
        bill,
        unshown=tuple(dict.fromkeys((*bill.unshown, *off))),
        items=tuple(replace(item, default=known.by.get(item.control)) for item in bill.items),
        small=tuple(replace(item, default=known.by.get(item.control)) for item in bill.small),
    )
