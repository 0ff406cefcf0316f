"""Units of systemd on a machine that runs already: started with files of theirs, or stopped.

The keeper there changes them and puts them back; where a unit does not come to run, or to stop, it
says so, and the trial fails.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.controls.unitstate import Service
from hardcost.protocol import requests as ask

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.controls.control import Control
    from hardcost.protocol.answers import Answer
    from hardcost.protocol.requests import Request


def requests(controls: Sequence[Control]) -> tuple[Request, ...]:
    """Return what starts and stops units, each with its files before it."""
    return tuple(
        ask.unit(one.unit, running=one.running, files=dict(one.files))
        for one in controls
        if isinstance(one, Service)
    )


def verify(controls: Sequence[Control], answers: Sequence[Answer]) -> tuple[str, ...]:  # noqa: ARG001  (any mechanism's)
    """Return that there is nothing to note: the keeper has seen each unit in its state."""
    return ()
