"""The instruments that ride along: what they ask of the probe, and what they saw."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hardcost.instruments import audit, avc, cpu
from hardcost.machines import requests

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hardcost.instruments.observed import Observed
    from hardcost.machines.machine import Request

_MODULES = {module.NAME: module for module in (cpu, audit, avc)}
TITLES = {name: module.TITLE for name, module in _MODULES.items()}
"""What each of them is, by name."""


def requests_before(names: Sequence[str]) -> tuple[Request, ...]:
    """Return what the probe is asked before the workload: to begin watching."""
    return (requests.watch([_MODULES[name].WATCH for name in names]),) if names else ()


def requests_after(names: Sequence[str]) -> tuple[Request, ...]:
    """Return what the probe is asked after the workload: to tell what it saw."""
    return (requests.unwatch(),) if names else ()


def observed(
    names: Sequence[str],
    answers: Sequence[Mapping[str, Any]],
    operations: Mapping[str, int] | None = None,
) -> tuple[Observed, ...]:
    """Return what each instrument saw; `operations` are those of the load, by program.

    Raises:
        TrialError: The guest did not tell, or what it tells makes no sense.
    """
    return tuple(_counted(_MODULES[name].observed(answers), operations or {}) for name in names)


def _counted(seen: Observed, operations: Mapping[str, int]) -> Observed:
    """Return `seen` with the operations of its steps."""
    steps = tuple(
        step.model_copy(update={"operations": operations.get(step.name)}) for step in seen.steps
    )
    return seen.model_copy(update={"steps": steps})
