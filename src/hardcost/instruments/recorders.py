"""Recorders, which observe beside the instrument: their requests, and their observations."""

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
"""The description of each, by name."""


def requests_before(names: Sequence[str]) -> tuple[Request, ...]:
    """Return the requests before the workload: to begin watching."""
    return (ask.watch([_MODULES[name].WATCH for name in names]),) if names else ()


def requests_after(names: Sequence[str]) -> tuple[Request, ...]:
    """Return the requests after the workload: to report the watch."""
    return (requests.Unwatch(),) if names else ()


def observations_of(
    names: Sequence[str],
    answers: Sequence[Answer],
    operations: Mapping[str, int] | None = None,
    logged: Logged = NOTHING_LOGGED,
) -> tuple[Observed, ...]:
    """Return the observations of each instrument; `operations` are the load's, by program.

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
