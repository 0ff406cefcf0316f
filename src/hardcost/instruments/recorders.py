"""Recorders, which observe beside the instrument: what they ask of the probe, and what they saw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hardcost.instruments import audit, avc, cpu
from hardcost.instruments.audit import NOTHING_LOGGED, Logged
from hardcost.model.observation import Observed
from hardcost.protocol import ask, requests
from hardcost.protocol.answers import Answer
from hardcost.protocol.requests import Request

_MODULES = {module.NAME: module for module in (cpu, audit, avc)}
TITLES = {name: module.TITLE for name, module in _MODULES.items()}
"""What each of them is, by name."""


def requests_before(names: Sequence[str]) -> tuple[Request, ...]:
    """Return what the probe is asked before the workload: to begin watching."""
    return (ask.watch([_MODULES[name].WATCH for name in names]),) if names else ()


def requests_after(names: Sequence[str]) -> tuple[Request, ...]:
    """Return what the probe is asked after the workload: to report what it saw."""
    return (requests.Unwatch(),) if names else ()


def observations_of(
    names: Sequence[str],
    answers: Sequence[Answer],
    operations: Mapping[str, int] | None = None,
    logged: Logged = NOTHING_LOGGED,
) -> tuple[Observed, ...]:
    """Return what each instrument saw; `operations` are those of the load, by program.

    `logged` is what daemons wrote down of audit meanwhile.

    Raises:
        TrialError: The guest did not report it.
    """
    seen = (
        audit.observation_of(answers, logged)
        if name == audit.NAME
        else _MODULES[name].observation_of(answers)
        for name in names
    )
    return tuple(_with_operations(one, operations or {}) for one in seen)


def _with_operations(seen: Observed, operations: Mapping[str, int]) -> Observed:
    """Return `seen` with the operations of its steps."""
    steps = tuple(
        step.model_copy(update={"operations": operations.get(step.name)}) for step in seen.steps
    )
    return seen.model_copy(update={"steps": steps})
