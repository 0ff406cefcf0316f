"""Mount options: a directory is mounted on itself, with the options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hardcost.controls.control import MountOptions
from hardcost.errors import TrialError
from hardcost.machines import requests as ask

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hardcost.controls.control import Control
    from hardcost.machines.machine import Request


def requests(controls: Sequence[Control]) -> tuple[Request, ...]:
    """Return what mounts each directory, those nearer to the root first."""
    mounts = sorted(_mounts(controls), key=lambda one: (one.path.count("/"), one.path))
    return tuple(ask.mount(one.path, one.options) for one in mounts)


def verify(controls: Sequence[Control], answers: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Check that the kernel shows the options.

    Raises:
        TrialError: A mount lacks one of them.
    """
    found = {
        str(answer["path"]): set(map(str, answer["options"]))
        for answer in answers
        if answer.get("event") == "mounted"
    }
    for one in _mounts(controls):
        if one.path not in found:
            raise TrialError(f"{one.name} did not take: the guest did not mount it")
        missing = [option for option in one.options if option not in found[one.path]]
        if missing:
            shown = ",".join(sorted(found[one.path]))
            raise TrialError(f"{one.name} did not take: it is mounted with {shown}")
    return ()


def _mounts(controls: Sequence[Control]) -> list[MountOptions]:
    return [control for control in controls if isinstance(control, MountOptions)]
