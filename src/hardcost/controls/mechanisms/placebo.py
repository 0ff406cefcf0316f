"""Placebos: changes without effect, applied as any control is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hardcost.controls.control import Placebo
from hardcost.errors import TrialError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hardcost.controls.control import Control
    from hardcost.machines.machine import Request

# Settings of every kernel whose handlers store the value and do next to nothing else.
_SETTINGS = (
    "kernel/panic",
    "vm/swappiness",
    "kernel/randomize_va_space",
    "vm/dirty_ratio",
    "vm/overcommit_memory",
    "kernel/panic_on_oops",
    "vm/vfs_cache_pressure",
    "vm/page-cluster",
    "vm/overcommit_ratio",
    "vm/dirty_background_ratio",
)
_MOST_WORDS = 4


def boot_parameters(controls: Sequence[Control]) -> tuple[str, ...]:
    """Return words for the kernel's command line that the kernel ignores."""
    return tuple(word for one in _of_kind(controls, "boot") for word in _words(one.number))


def requests(controls: Sequence[Control]) -> tuple[Request, ...]:
    """Return what the probe is asked to write: what stands there already."""
    return tuple(
        {"do": "write", "path": path}
        for one in _of_kind(controls, "sysctl")
        for path in _paths(one.number)
    )


def rules(controls: Sequence[Control]) -> tuple[str, ...]:
    """Return lines for auditctl: rules that are deleted again, which no process could match."""
    return tuple(
        f"{flag} always,exit -F arch=b64 -S all -F pid={4194304 + at} -F key=placebo-{one.number}"
        for one in _of_kind(controls, "rule")
        for flag in ("-a", "-d")
        for at in range(one.number % 10 + 1)
    )


def verify(controls: Sequence[Control], answers: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Check that a setting that was written anew has kept its value.

    Raises:
        TrialError: It has another.
    """
    own = {path for one in _of_kind(controls, "sysctl") for path in _paths(one.number)}
    for answer in answers:
        if answer.get("event") != "written" or answer["path"] not in own:
            continue
        if answer["before"] != answer["after"]:
            raise TrialError(f"{answer['path']} did not keep its value {answer['before']!r}")
    return ()


def _of_kind(controls: Sequence[Control], kind: str) -> list[Placebo]:
    return [one for one in controls if isinstance(one, Placebo) and one.kind == kind]


def _words(number: int) -> list[str]:
    """Return one to four words of 20 to some 100 characters."""
    return [
        f"hardcost.placebo={'x' * (4 + (number * 13 + at * 7) % 89)}"
        for at in range(number % _MOST_WORDS + 1)
    ]


def _paths(number: int) -> list[str]:
    """Return one to three settings."""
    return [
        f"/proc/sys/{_SETTINGS[(number + at) % len(_SETTINGS)]}" for at in range(number % 3 + 1)
    ]
