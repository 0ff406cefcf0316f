"""What a machine that is there already lacks for being measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.machines.hostcheck import Check, attempt, program
from hardcost.machines.ourprograms import built
from hardcost.machines.real import starting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.machines.cache import Cache


def examine(cache: Cache) -> Sequence[Check]:  # noqa: ARG001  (any examiner's)
    """Look for the programs that it takes to measure a machine from here."""
    probe = attempt("the probe", lambda: str(built(starting.PROGRAMS[0])))
    return (probe, program("setpriv", "util-linux"), program("taskset", "util-linux"))


async def try_out(cache: Cache) -> Sequence[Check]:  # noqa: ARG001  (any examiner's)
    """Return nothing more: `doctor --machine` measures the machine itself."""
    return ()
