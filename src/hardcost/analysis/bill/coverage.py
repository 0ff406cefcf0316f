"""Controls that nothing exercised: their cost is not known, and is not 0.

It is known of measured calls alone what they reach. A program may do anything.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hardcost.analysis.cautions import notes
from hardcost.controls.exercised import reach
from hardcost.workloads import syscalls

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hardcost.analysis.finding import Finding
    from hardcost.controls.control import Control


def told(finding: Finding, configurations: Mapping[str, Sequence[Control]]) -> Finding:
    """Return the finding with what no metric exercised, out of the controls of configurations."""
    cells = finding.cells
    if not cells or any(cell.workload.split(" ")[0] not in syscalls.OF_CALLS for cell in cells):
        return finding
    metrics = {cell.metric for cell in cells}
    controls = {
        one: None
        for some in configurations.values()
        for one in some
        if one.name not in finding.refused
    }
    known = {one.name: bool(metrics & {*at.by}) for one in controls if (at := reach(one))}
    why = {one.name: _why(one) for one in controls if known.get(one.name) is False}
    if finding.bill is None:
        return replace(
            finding,
            notes=(*finding.notes, *notes(why)),
            unexercised=_nothing_reached(finding, configurations, why),
        )
    items = (*finding.bill.items, *finding.bill.small)
    # What is seen to cost something acts on more than the table knows.
    for item in finding.bill.items:
        if item.cost and item.control in why:
            del why[item.control], known[item.control]
    shown = tuple(
        replace(
            item,
            exercised=known.get(item.control),
            caveat="; ".join(filter(None, (item.caveat, why.get(item.control)))),
        )
        for item in items
    )
    many = len(finding.bill.items)
    left = {name: text for name, text in why.items() if name not in _names(finding)}
    bill = replace(
        finding.bill,
        items=shown[:many],
        small=shown[many:],
        unshown=tuple(dict.fromkeys((*finding.bill.unshown, *why))),
    )
    return replace(finding, bill=bill, notes=(*finding.notes, *notes(left)))


def _names(finding: Finding) -> set[str]:
    return set() if finding.bill is None else {item.control for item in finding.bill.items}


def _why(control: Control) -> str:
    """Return that a control was not exercised, and which workload would."""
    at = reach(control)
    acts_on, by = ("", ()) if at is None else (at.acts_on, at.by)
    others = [name for name, calls in syscalls.OF_CALLS.items() if {*by} & {*calls()}]
    hint = f"--workload {others[0]} does" if others else "no workload of calls does"
    return f"not exercised: it acts on {acts_on}, which no metric here reaches; {hint}"


def _nothing_reached(
    finding: Finding, configurations: Mapping[str, Sequence[Control]], why: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the configurations that differ from their baselines in nothing that was exercised."""
    found = []
    for name, against in {cell.configuration: cell.baseline for cell in finding.cells}.items():
        one, other = (set(configurations.get(which, ())) for which in (name, against))
        if one ^ other and all(control.name in why for control in one ^ other):
            found.append(name)
    return tuple(found)
