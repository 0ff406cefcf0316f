"""What a bill's baseline is, in words: reports print it wherever they say "without"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.controls.control import AuditDaemon, AuditRule, Kernel, KernelOption, Lsm

if TYPE_CHECKING:
    from hardcost.controls.control import Profile

_OF_THE_BASELINE = (AuditDaemon, AuditRule, Kernel, KernelOption, Lsm)


def compared_with(profile: Profile, *, running: bool = False) -> str:
    """Return what a profile is compared with, such as `audit on, no rules`.

    `running`: the machine runs already, and is what it is but for the controls.
    """
    said = _said(profile)
    return f"{said}, without a reboot" if running else said


def _said(profile: Profile) -> str:
    parts = []
    if any(isinstance(one, AuditDaemon) for one in profile.controls):
        parts.append("audit on, no rules")
    parts += [
        one.name if one.shipped else f"{one.name}, none of the options"
        for one in profile.controls
        if isinstance(one, Kernel)
    ]
    if any(isinstance(one, Lsm) for one in profile.controls):
        parts.append("no security module")
    if not parts:
        return "none of the controls"
    others = any(not isinstance(one, _OF_THE_BASELINE) for one in profile.controls)
    return ", ".join([*parts, *["none of the other controls"] * others])
