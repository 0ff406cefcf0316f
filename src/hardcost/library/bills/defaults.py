"""Marks in a bill what is a default anyway, and what another control switches off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hardcost.controls.control import Control
from hardcost.mechanisms.facts import overruled_controls
from hardcost.model.finding.bill import Itemised
from hardcost.profiles.kernel.defaults import default_of


def with_defaults(bill: Itemised, controls: Sequence[Control]) -> Itemised:
    """Return a bill of controls with whose default each is; no number changes.

    Of a control that another switches off, the numbers do not show the cost.
    """
    seen = {item.control for item in bill.items if item.cost}
    off = {one: None for one, _ in overruled_controls(controls) if one not in seen}
    by = {one.name: default_of(one, controls) for one in controls}
    return replace(
        bill,
        unshown=tuple(dict.fromkeys((*bill.unshown, *off))),
        items=tuple(replace(item, default=by.get(item.control)) for item in bill.items),
        small=tuple(replace(item, default=by.get(item.control)) for item in bill.small),
    )
