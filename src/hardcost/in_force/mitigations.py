"""Mitigations of the processor's faults, as the kernel reports them."""

from __future__ import annotations

from hardcost.in_force.files import MachineFiles
from hardcost.in_force.found import InForce, Survey

_FOLDER = "/sys/devices/system/cpu/vulnerabilities"
_KIND = "mitigation"


def read(files: MachineFiles) -> Survey:
    """Return the mitigations in force; files alone do not say what a processor needs."""
    if not files.live:
        return Survey(
            unseen=(
                "mitigations of the processor's faults: which there are depends on the processor",
            )
        )
    found: list[InForce] = []
    open_: list[str] = []
    for name in files.names(_FOLDER):
        said = (files.text(f"{_FOLDER}/{name}") or "").strip()
        if said.startswith("Mitigation: "):
            found.append(
                InForce(_KIND, f"{name}: {said.removeprefix('Mitigation: ')}", by_default=True)
            )
        elif said.startswith("Vulnerable"):
            open_.append(name)
    notes = (
        (f"the kernel reports the processor as vulnerable: {', '.join(open_)}",) if open_ else ()
    )
    return Survey(tuple(found), notes=notes)
