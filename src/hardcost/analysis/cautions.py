"""What a count of instructions does not show of some controls, said beside their costs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hardcost.controls.control import BootParameter
from hardcost.controls.uncounted import why_uncounted
from hardcost.instruments.insn import INSN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hardcost.analysis.finding import Finding
    from hardcost.controls.control import Control

    Faults = Mapping[tuple[str, ...], Mapping[str, str]]
    """What a kernel does about the processor's faults, by the boot parameters it was given."""


def cautioned(finding: Finding, controls: Iterable[Control], faults: Faults) -> Finding:
    """Return the finding with a caveat at each cost that a count of instructions does not show.

    A bill's caveats stand in its items, those of a study in its notes. `faults` are what the
    guest's kernel says, as far as it was asked.
    """
    if finding.instrument != INSN.name:
        return finding
    caveats = {
        control.name: f"{why}{_changed(control, faults)}"
        for control in controls
        if (why := why_uncounted(control)) is not None
    }
    if not caveats:
        return finding
    if finding.bill is None:
        return replace(finding, notes=(*finding.notes, *_notes(caveats)))
    items = tuple(
        replace(item, caveat=caveats.get(item.control, "")) for item in finding.bill.items
    )
    billed = {item.control for item in items}
    left = _notes({name: said for name, said in caveats.items() if name not in billed})
    return replace(
        finding,
        bill=replace(finding.bill, items=items, unshown=tuple(caveats)),
        notes=(*finding.notes, *left),
    )


def _notes(caveats: Mapping[str, str]) -> tuple[str, ...]:
    """Return each caveat once, behind the names of the controls that it is about."""
    about: dict[str, list[str]] = {}
    for name, caveat in caveats.items():
        about.setdefault(caveat, []).append(name)
    return tuple(f"{', '.join(names)}: {caveat}" for caveat, names in about.items())


def _changed(control: Control, faults: Faults) -> str:
    """Return what a boot parameter changes of what the guest's kernel does about the faults."""
    if not isinstance(control, BootParameter):
        return ""
    without, with_it = faults.get(()), faults.get((control.text,))
    if not without or not with_it:
        return ""
    changed = {
        name: f"{name} from '{without.get(name, 'nothing')}' to '{said}'"
        for name, said in with_it.items()
        if said != without.get(name)
    }
    others = {name: said for name, said in with_it.items() if name not in changed}
    if not changed:
        return f"; on this processor model it changes nothing of it ({_described(others)})"
    same = f" ({_described(others)})" if others else ""
    return f"; on this processor model it changes {', '.join(changed.values())}, and no more{same}"


def _described(faults: Mapping[str, str]) -> str:
    """Return in a few words what the kernel does about the processor's faults."""
    untouched = [name for name, said in faults.items() if said.startswith("Not affected")]
    others = [f"{name}: {said}" for name, said in faults.items() if name not in untouched]
    if untouched:
        others.append(f"not affected by {', '.join(untouched)}")
    return "; ".join(others)
