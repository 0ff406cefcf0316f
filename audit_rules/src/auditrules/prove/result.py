"""An answer about two sets of rules, with the sets."""

from __future__ import annotations

from dataclasses import dataclass

from auditrules.load.loaded_set import LoadedSet
from auditrules.prove.relation import Result


@dataclass(frozen=True)
class Proved:
    """The prover's result about the sets A and B."""

    result: Result
    a: LoadedSet
    b: LoadedSet

    @property
    def either_way(self) -> tuple[str, ...]:
        """The watched paths for which the answer holds whichever kind they are."""
        return tuple(sorted({*self.a.unknown, *self.b.unknown}))
