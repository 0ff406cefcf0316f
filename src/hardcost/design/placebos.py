"""Placebos of a plan: configurations that differ from another only in something without effect.

The differences that they seem to make show which costs cannot be distinguished from chance. Half
of them are added to the baseline, half to the whole profile. They change the same things as the
profile's own controls: the kernel's command line, settings, the list of audit rules.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, get_args

from hardcost.controls.control import (
    AuditDaemon,
    AuditRule,
    BootParameter,
    Kernel,
    KernelOption,
    Placebo,
    Sysctl,
    SystemControl,
    comparable,
)
from hardcost.design.plan import Configuration

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from hardcost.controls.control import Control, PlaceboKind
    from hardcost.design.plan import Workload

USUAL = 8
"""Placebos in a bill, unless the user says otherwise."""
_FEW = 4  # where a trial takes a minute
_NAME = re.compile(r"placebo:(?P<on>\w+):\d+")
_BASELINE, _PROFILE = "baseline", "profile"
_FIRST = 100  # numbers unlike those that bench/false_alarms.py puts in place of controls
_CHEAP = frozenset({"syscalls", "command", "build"})


def affordable(controls: Sequence[Control], workloads: Sequence[Workload]) -> int:
    """Return how many placebos to measure: fewer where each trial runs a whole system."""
    whole = any(isinstance(one, SystemControl) for one in controls)
    return _FEW if whole or any(one.name not in _CHEAP for one in workloads) else USUAL


def configurations(
    controls: Sequence[Control], count: int, *, running: bool = False
) -> tuple[Configuration, ...]:
    """Return `count` placebos for a profile's `controls`, alternating baseline and profile.

    On a machine that is `running` already none of them is a word of the kernel's command line.
    """
    fixed = tuple(one for one in controls if isinstance(one, AuditDaemon | Kernel))
    kinds = _kinds(controls)
    if running:
        kinds = tuple(kind for kind in kinds if kind != "boot") or ("sysctl",)
    found = []
    for at in range(count):
        on, beside = ((_BASELINE, fixed), (_PROFILE, tuple(controls)))[at % 2]
        placebo = Placebo(kinds[at // 2 % len(kinds)], _FIRST + at)
        found.append(Configuration(f"placebo:{on}:{at}", (*comparable(beside, controls), placebo)))
    return tuple(found)


def reference(name: str) -> str | None:
    """Return the name of the configuration that a placebo is compared with; None: no placebo."""
    match = _NAME.fullmatch(name)
    return match["on"] if match else None


def compared(names: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield each placebo among `names`, with the configuration that it is compared with."""
    for name in names:
        on = reference(name)
        if on is not None and on in names:
            yield name, on


def _kinds(controls: Sequence[Control]) -> tuple[PlaceboKind, ...]:
    """Return what the placebos of a profile change: what its own controls change."""
    kinds: dict[PlaceboKind, tuple[type, ...]] = {
        "boot": (BootParameter, KernelOption, *get_args(SystemControl)),
        "sysctl": (Sysctl,),
        "rule": (AuditRule,),
    }
    present = {one.kind for one in controls if isinstance(one, Placebo)}
    found = tuple(
        kind
        for kind, types in kinds.items()
        if kind in present or any(isinstance(one, types) for one in controls)
    )
    return found or ("boot",)
