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
from hardcost.study.model import PLACEBO

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from hardcost.controls.control import Control, PlaceboKind
    from hardcost.design.plan import Workload

USUAL = 8
"""Placebos in a bill, unless the user says otherwise."""
_FEW = 4  # where a trial takes a minute
_NAME = re.compile(rf"{PLACEBO}(?P<on>.+):\d+", re.DOTALL)
_BASELINE, _PROFILE = "baseline", "profile"
_FIRST = 100  # numbers unlike those that bench/false_alarms.py puts in place of controls
_CHEAP = frozenset({"syscalls", "syscalls-more", "command", "build"})


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
        found.append(_of(on, at, comparable(beside, controls), kinds))
    return tuple(found)


def of_study(
    known: Sequence[Configuration], baseline: str, workloads: Sequence[Workload]
) -> tuple[Configuration, ...]:
    """Return the placebos of a study: of its baseline, and of what has most controls beside it.

    They need no kernel but the baseline's. There are none where no workload is cheap: what a whole
    system does is measured under perturbations, or has a resolution of its own.
    """
    base = next((one for one in known if one.name == baseline), None)
    every = tuple({c: None for one in known for c in one.controls})
    if base is None or not cheap(workloads) or any(isinstance(c, SystemControl) for c in every):
        return ()
    near = [one for one in known if _kernel(one) == _kernel(base)]
    pair = (base, max(near, key=lambda one: len(one.controls)))
    found = []
    for at in range(USUAL):
        of = pair[at % 2]
        audited = any(isinstance(one, AuditDaemon) for one in of.controls)
        kinds = tuple(kind for kind in _kinds(every) if audited or kind != "rule")
        found.append(_of(of.name, at, of.controls, kinds or ("sysctl",)))
    return tuple(found)


def cheap(workloads: Sequence[Workload]) -> tuple[Workload, ...]:
    """Return those of the workloads that take seconds."""
    return tuple(one for one in workloads if one.name in _CHEAP)


def _of(
    on: str, at: int, controls: Sequence[Control], kinds: Sequence[PlaceboKind]
) -> Configuration:
    placebo = Placebo(kinds[at // 2 % len(kinds)], _FIRST + at)
    return Configuration(f"{PLACEBO}{on}:{at}", (*controls, placebo))


def _kernel(one: Configuration) -> tuple[Control, ...]:
    return tuple(c for c in one.controls if isinstance(c, Kernel | KernelOption))


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
