"""The workloads by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from hardcost.errors import InputError
from hardcost.instruments.instrument import Instrument
from hardcost.kind_files import import_kinds
from hardcost.model.workload import Workload
from hardcost.workloads import one_call, parameters
from hardcost.workloads.kind import WorkloadKind
from hardcost.workloads.parameters import WorkloadParameters
from hardcost.workloads.registry import FILES

_OF_VERBS: dict[str, WorkloadKind[Any]] = {one_call.NAME: one_call.KIND}
"""Workloads that verbs run by themselves, and that users can't name."""


@cache
def all_workloads() -> Mapping[str, WorkloadKind[Any]]:
    """Return the workloads by name, in the order of lists."""
    found = {kind.name: kind for kind in import_kinds(__package__, FILES.values(), WorkloadKind)}
    return {name: found[name] for name in FILES}


def resolutions() -> dict[str, float]:
    """Return the resolution of each workload of which one trial is one draw, by name."""
    return {name: kind.resolution for name, kind in all_workloads().items() if kind.resolution}


@cache
def workload_named(name: str) -> WorkloadKind[Any]:
    """Return the workload called `name`.

    Raises:
        InputError: There is none.
    """
    if name in _OF_VERBS:
        return _OF_VERBS[name]
    if name not in FILES:
        hint = parameters.nearest_hint(name, "workloads", FILES)
        raise InputError(f"there is no workload '{name}'", hint=hint)
    found = import_kinds(__package__, [FILES[name]], WorkloadKind)
    return next(kind for kind in found if kind.name == name)


@dataclass(frozen=True)
class ReadWorkload:
    """A workload with its parameters, read."""

    kind: WorkloadKind[Any]
    parameters: WorkloadParameters


@cache
def load(of: Workload) -> ReadWorkload:
    """Return a workload with its parameters, which are read once for all trials of it.

    Raises:
        InputError: There is no such workload, or a parameter is wrong.
    """
    kind = workload_named(of.name)
    return ReadWorkload(kind, kind.read_parameters(dict(of.parameters)))


def check_workload(name: str, words: Mapping[str, str], instruments: Iterable[Instrument]) -> None:
    """Check a workload's parameters as far as that is possible without a machine.

    Raises:
        InputError: There is no such workload or parameter, or under each of the `instruments` the
            value of one is wrong.
    """
    found = workload_named(name).read_parameters(words)
    wrong: InputError | None = None
    for instrument in instruments:
        try:
            found.check(instrument)
        except InputError as error:
            wrong = wrong or error
        else:
            return
    if wrong is not None:
        raise wrong
