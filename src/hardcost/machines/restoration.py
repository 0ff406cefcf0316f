"""The result of undoing what an interrupted run left on a machine."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Restored:
    """How many changes were undone; what is still changed, and why.

    `left` names what others have changed since: it is theirs, and stays as it is.
    `rebooted`: the machine ran a boot that was not its own, and runs its own now.
    """

    changes: int
    problems: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    rebooted: bool = False
