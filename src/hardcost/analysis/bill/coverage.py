"""Controls that nothing exercised: their cost is not known, and is not 0.

It is known of measured calls alone what they reach. A program may do anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hardcost.analysis.bill.uncounted import notes
from hardcost.controls.control import Control
from hardcost.model.finding.bill import Bill
from hardcost.model.finding.finding import Finding
from hardcost.model.finding.study import StudyFinding
from hardcost.model.role import Role
from hardcost.workloads import syscalls


def with_coverage(finding: Finding, configurations: Mapping[Role, Sequence[Control]]) -> Finding:
    """Return the finding with the controls of configurations that no metric exercised."""
    cells = finding.cells
    if not cells or any(cell.workload.name not in syscalls.OF_CALLS for cell in cells):
        return finding
    metrics = {cell.metric for cell in cells}
    refused = finding.refused if isinstance(finding, Bill) else frozenset[str]()
    controls = {
        one: None for some in configurations.values() for one in some if one.name not in refused
    }
    known = {one.name: bool(metrics & {*at.by}) for one in controls if (at := one.reach)}
    why = {one.name: _why(one) for one in controls if known.get(one.name) is False}
    if not isinstance(finding, Bill):
        finding = replace(finding, notes=(*finding.notes, *notes(why)))
        if isinstance(finding, StudyFinding):
            idle = _nothing_reached(finding, configurations, why)
            return replace(finding, unexercised=idle)
        return finding
    items = (*finding.items, *finding.small)
    # What is seen to cost something acts on more than the table knows.
    for item in finding.items:
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
    many = len(finding.items)
    itemised = {item.control for item in finding.items}
    left = {name: text for name, text in why.items() if name not in itemised}
    return replace(
        finding,
        items=shown[:many],
        small=shown[many:],
        unshown=tuple(dict.fromkeys((*finding.unshown, *why))),
        notes=(*finding.notes, *notes(left)),
    )


def _why(control: Control) -> str:
    """Return a note that a control was not exercised, and which workload would exercise it."""
    at = control.reach
    acts_on, by = ("", ()) if at is None else (at.acts_on, at.by)
    others = [name for name, calls in syscalls.OF_CALLS.items() if {*by} & {*calls()}]
    hint = f"--workload {others[0]} does" if others else "no workload of calls does"
    return f"not exercised: it acts on {acts_on}, which no metric here reaches; {hint}"


def _nothing_reached(
    finding: Finding, configurations: Mapping[Role, Sequence[Control]], why: Mapping[str, str]
) -> tuple[Role, ...]:
    """Return the configurations that differ from their baselines in nothing that was exercised."""
    found = []
    for name, against in {cell.configuration: cell.baseline for cell in finding.cells}.items():
        one, other = (set(configurations.get(which, ())) for which in (name, against))
        if one ^ other and all(control.name in why for control in one ^ other):
            found.append(name)
    return tuple(found)
