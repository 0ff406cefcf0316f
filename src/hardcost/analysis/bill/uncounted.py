"""Costs of some controls that an instruction count misses, stated beside their figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from hardcost.controls.control import Control
from hardcost.instruments.insn import INSN
from hardcost.model.finding.bill import Bill
from hardcost.model.finding.finding import Finding

Faults = Mapping[tuple[str, ...], Mapping[str, str]]
"""The kernel's mitigations of processor faults, by the boot parameters given."""


def with_caveats(finding: Finding, controls: Iterable[Control], faults: Faults) -> Finding:
    """Return the finding with a caveat for each cost that an instruction count does not show.

    A bill carries caveats in its items, a study in its notes. `faults` are the guest kernel's
    answers, as far as they were queried.
    """
    if finding.instrument != INSN.name:
        return finding
    refused = finding.refused if isinstance(finding, Bill) else frozenset[str]()
    about = {
        control.name: control
        for control in controls
        if control.name not in refused and control.uncounted is not None
    }
    caveats = {
        name: f"{control.uncounted}{_changed_mitigations(control, faults)}"
        for name, control in about.items()
    }
    if not caveats:
        return finding
    states = _states(about.values(), faults)
    if not isinstance(finding, Bill):
        return replace(finding, notes=(*finding.notes, *notes(caveats), *states))
    items = tuple(replace(item, caveat=caveats.get(item.control, "")) for item in finding.items)
    billed = {item.control for item in items}
    left = notes({name: text for name, text in caveats.items() if name not in billed})
    return replace(
        finding,
        items=items,
        unshown=tuple(dict.fromkeys((*finding.unshown, *caveats))),
        notes=(*finding.notes, *left, *states),
    )


def notes(caveats: Mapping[str, str]) -> tuple[str, ...]:
    """Return each caveat once, after the names of the controls that it applies to."""
    about: dict[str, list[str]] = {}
    for name, caveat in caveats.items():
        about.setdefault(caveat, []).append(name)
    return tuple(f"{', '.join(names)}: {caveat}" for caveat, names in about.items())


def _changed_mitigations(control: Control, faults: Faults) -> str:
    """Return how a boot parameter changes the guest kernel's mitigations of processor faults."""
    without, with_it = faults.get(()), faults.get(control.boot_words)
    if not control.boot_words or not without or not with_it:
        return ""
    changed = {
        name: f"{name} from '{without.get(name, 'nothing')}' to '{state}'"
        for name, state in with_it.items()
        if state != without.get(name)
    }
    if not changed:
        return "; on this processor model it changes no mitigation"
    return f"; on this processor model it changes only {', '.join(changed.values())}"


def _states(controls: Iterable[Control], faults: Faults) -> tuple[str, ...]:
    """Return the mitigations without boot parameters, once, if some of these were compared."""
    if () not in faults or not any(_changed_mitigations(control, faults) for control in controls):
        return ()
    return (f"the kernel's mitigations without boot parameters: {_summarise_faults(faults[()])}",)


def _summarise_faults(faults: Mapping[str, str]) -> str:
    """Summarise the kernel's mitigations of processor faults."""
    untouched = [name for name, state in faults.items() if state.startswith("Not affected")]
    others = [f"{name}: {state}" for name, state in faults.items() if name not in untouched]
    if untouched:
        others.append(f"not affected by {', '.join(untouched)}")
    return "; ".join(others)
