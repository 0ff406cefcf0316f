"""Mount options: a directory is mounted on itself, with the options."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.controls.control import MountOptions
from hardcost.errors import TrialError
from hardcost.protocol import requests as ask
from hardcost.protocol.answers import MountedAnswer, all_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.controls.control import Control
    from hardcost.protocol.answers import Answer
    from hardcost.protocol.requests import Request


def requests(controls: Sequence[Control]) -> tuple[Request, ...]:
    """Return what mounts each directory, those nearer to the root first."""
    mounts = sorted(_mounts(controls), key=lambda one: (one.path.count("/"), one.path))
    return tuple(ask.mount(one.path, one.options) for one in mounts)


def verify(controls: Sequence[Control], answers: Sequence[Answer]) -> tuple[str, ...]:
    """Check that the kernel shows the options.

    Raises:
        TrialError: A mount lacks one of them.
    """
    found = {one.path: set(one.options) for one in all_of(answers, MountedAnswer)}
    for one in _mounts(controls):
        if one.path not in found:
            raise TrialError(f"{one.name} did not take: the machine did not mount it")
        missing = [option for option in one.options if option not in found[one.path]]
        if missing:
            shown = ",".join(sorted(found[one.path]))
            raise TrialError(f"{one.name} did not take: it is mounted with {shown}")
    return ()


def _mounts(controls: Sequence[Control]) -> list[MountOptions]:
    return [control for control in controls if isinstance(control, MountOptions)]
