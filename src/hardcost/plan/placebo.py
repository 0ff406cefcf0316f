"""Placebos of a plan: configurations that differ from another only in something without effect.

The differences that they seem to make show which costs cannot be distinguished from chance. Half
of them are added to the baseline, half to the whole profile. They change the same things as the
profile's own controls: the kernel's command line, settings, the list of audit rules.
"""

from __future__ import annotations

from collections.abc import Sequence

from hardcost.controls.configuration import Configuration
from hardcost.controls.control import Control, PlaceboKind, comparable_part
from hardcost.mechanisms.placebo import Placebo
from hardcost.model import role
from hardcost.model.role import Baseline, Role, Whole
from hardcost.model.workload import Workload

USUAL = 8
"""Placebos in a bill, unless the user says otherwise."""
_FEW = 4  # where a trial takes a minute
_FIRST = 100  # numbers unlike those that bench/accuracy/false_alarms.py puts in place of controls
_KINDS: tuple[PlaceboKind, ...] = ("boot", "sysctl", "rule")
_CHEAP = frozenset({"syscalls", "syscalls-more", "command", "build", "boot", "memory"})


def affordable_placebos(controls: Sequence[Control], workloads: Sequence[Workload]) -> int:
    """Return how many placebos to measure: fewer where each trial runs a whole system."""
    whole = any(one.whole_system for one in controls)
    return _FEW if whole or any(one.name not in _CHEAP for one in workloads) else USUAL


def configurations(
    controls: Sequence[Control], count: int, *, running: bool = False
) -> tuple[Configuration, ...]:
    """Return `count` placebos for a profile's `controls`, alternating baseline and profile.

    On a machine that is `running` already none of them is a word of the kernel's command line.
    """
    fixed = tuple(one for one in controls if one.in_baseline)
    kinds = _kinds(controls)
    if running:
        kinds = tuple(kind for kind in kinds if kind != "boot") or ("sysctl",)
    pair = (
        Configuration(Baseline(), comparable_part(fixed, controls)),
        Configuration(Whole(), comparable_part(tuple(controls), controls)),
    )
    return tuple(_placebo_configuration(pair[at % 2], at, kinds) for at in range(count))


def placebos_of_study(
    known: Sequence[Configuration], baseline: Role, workloads: Sequence[Workload]
) -> tuple[Configuration, ...]:
    """Return the placebos of a study: of its baseline, and of the largest configuration.

    They need no kernel but the baseline's. There are none where no workload is cheap: what a whole
    system does is measured under perturbations, or has a resolution of its own.
    """
    base = next((one for one in known if one.role == baseline), None)
    every = tuple({c: None for one in known for c in one.controls})
    if base is None or not cheap_workloads(workloads) or any(c.whole_system for c in every):
        return ()
    near = [one for one in known if _kernel(one) == _kernel(base)]
    pair = (base, max(near, key=lambda one: len(one.controls)))
    limited = {one.enables for one in every}
    found = []
    for at in range(USUAL):
        of = pair[at % 2]
        enabled = {one.enables for one in of.controls}
        kinds = tuple(k for k in _kinds(every) if k not in limited or k in enabled)
        found.append(_placebo_configuration(of, at, kinds or ("sysctl",)))
    return tuple(found)


def cheap_workloads(workloads: Sequence[Workload]) -> tuple[Workload, ...]:
    """Return those of the workloads that take seconds."""
    return tuple(one for one in workloads if one.name in _CHEAP)


def _kinds(controls: Sequence[Control]) -> tuple[PlaceboKind, ...]:
    """Return the kinds of a profile's placebos: those that its own controls change."""
    present = {one.placebo for one in controls}
    return tuple(kind for kind in _KINDS if kind in present) or ("boot",)


def _placebo_configuration(
    of: Configuration, at: int, kinds: Sequence[PlaceboKind]
) -> Configuration:
    placebo = Placebo(kinds[at // 2 % len(kinds)], _FIRST + at)
    return Configuration(role.PlaceboRole(of.role, at), (*of.controls, placebo))


def _kernel(one: Configuration) -> tuple[Control, ...]:
    return tuple(c for c in one.controls if c.of_kernel)
