"""What a reader found on a machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from auditrules.model.location import Location
from hardcost.controls.control import Control
from hardcost.in_force.files import MachineFiles


@dataclass(frozen=True)
class InForce:
    """Something of hardening that is in force.

    `control` is what a profile would have for it; None for what no profile can have. `place` is the
    file and line that set it, None where it is not known. `by_default`: it was not set here:
    the kernel or the distribution has it anyway. `note` is what else there is to know.
    """

    kind: str
    name: str
    control: Control | None = None
    place: Location | None = None
    by_default: bool = False
    note: str = ""


@dataclass(frozen=True)
class Survey:
    """What a reader found in force, what it could not see, and remarks on the whole.

    `blind` are the kinds of controls of which it can't be said that one is not in force.
    `backlog_limit` is how many audit records may wait, None where that is not known.
    """

    found: tuple[InForce, ...] = ()
    unseen: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    blind: tuple[type[Control], ...] = ()
    backlog_limit: int | None = None


def lines_of(files: MachineFiles, path: str) -> Iterator[tuple[str, Location]]:
    """Yield the lines of a file that are no comments, with their places; none if it has none."""
    for number, line in enumerate(map(str.strip, (files.text(path) or "").split("\n")), 1):
        if line and not line.startswith("#"):
            yield line, Location(path, number)
