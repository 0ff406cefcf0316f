"""All that is in force on a machine. A kind of control joins by a reader of its own."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain

from hardcost.in_force import (
    audit,
    boot,
    bpf,
    daemons,
    kernel_options,
    mitigations,
    modules,
    mounts,
    sysctls,
)
from hardcost.in_force.files import MachineFiles
from hardcost.in_force.found import Survey

_READERS: tuple[Callable[[MachineFiles], Survey], ...] = (
    audit.read,
    sysctls.read,
    boot.read,
    modules.read,
    kernel_options.read,
    mitigations.read,
    mounts.read,
    daemons.read,
    bpf.read,
)


def read(files: MachineFiles) -> Survey:
    """Return what all readers find, in their order, and what they could not see."""
    each = [one(files) for one in _READERS]
    denied = [f"{path}: this user may not read it" for path in files.denied]
    denied += [f"{path}: there is too much to read all of it" for path in files.cut]
    return Survey(
        found=tuple(chain.from_iterable(one.found for one in each)),
        unseen=(*chain.from_iterable(one.unseen for one in each), *denied),
        notes=tuple(chain.from_iterable(one.notes for one in each)),
        blind=tuple(chain.from_iterable(one.blind for one in each)),
        backlog_limit=next((it.backlog_limit for it in each if it.backlog_limit is not None), None),
    )
