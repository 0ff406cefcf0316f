"""The workloads by name."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Literal, Protocol, cast, runtime_checkable

from hardcost.errors import InputError
from hardcost.workloads import (
    apache,
    build,
    command,
    dd,
    filecopy,
    fio,
    mariadb,
    postfix,
    syscalls,
    unixbench,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hardcost.instruments.instrument import Instrument
    from hardcost.protocol.answers import Answer
    from hardcost.protocol.requests import Request
    from hardcost.workloads.measured import Measured


class WorkloadModule(Protocol):
    """What the file of a workload holds.

    `PARAMETERS` says what each of its parameters means, `AUDIT_NOTE` what a cost holds of the work
    on audit records, `GUEST` what the guest has to hold, `PACKAGES` the Debian packages whose
    versions belong to a result.
    """

    NAME: str
    TITLE: str
    PARAMETERS: dict[str, str]
    AUDIT_NOTE: str
    GUEST: Literal["small", "compiler", "debian"]
    PACKAGES: tuple[str, ...]

    def requests(self, parameters: Mapping[str, str], instrument: Instrument) -> list[Request]:
        """Return what the probe is asked to do."""

    def measured(
        self,
        parameters: Mapping[str, str],
        answers: Sequence[Answer],
        instrument: Instrument,
    ) -> tuple[Measured, ...]:
        """Return the metrics out of the probe's answers."""


@runtime_checkable
class KnowsRemedy(Protocol):
    """A workload that knows what to do about some failures."""

    def remedy(self, parameters: Mapping[str, str], guest: str, reason: str) -> str | None:
        """Return what to do where a trial failed for a `reason` in a `guest`; None: not known."""


@runtime_checkable
class NeedsTree(Protocol):
    """A workload that works on files of Linux's source."""

    def tree(self, parameters: Mapping[str, str]) -> int:
        """Return how many files it wants under /srv/tree."""


@runtime_checkable
class CountsOperations(Protocol):
    """A workload that carries out many requests, mails or transactions in one program."""

    def operations(self, parameters: Mapping[str, str]) -> dict[str, int]:
        """Return how many, by the name of the program; 0 for one that finishes another's."""


@runtime_checkable
class SaysSettings(Protocol):
    """A workload of which a reader has to know something: `SETTINGS` is a note in reports."""

    SETTINGS: str


@runtime_checkable
class IsOneDraw(Protocol):
    """A workload of a whole system: one trial is one draw.

    `RESOLUTION` is how near to 1 a ratio of two such trials says nothing (0.005: half a per cent).
    """

    RESOLUTION: float


@runtime_checkable
class NeedsDisk(Protocol):
    """A workload that may write more than a guest's root usually holds."""

    def disk(self, parameters: Mapping[str, str]) -> int:
        """Return how many GiB the root has to have; 0 if any will do."""


WORKLOADS: dict[str, WorkloadModule] = {
    module.NAME: cast("WorkloadModule", module)
    for module in (
        *(syscalls, command, build, filecopy, fio, dd, unixbench),
        *(apache.PREFORK, apache.WORKER, postfix, mariadb),
    )
}


def resolutions() -> dict[str, float]:
    """Return the resolution of each workload of which one trial is one draw, by name."""
    return {
        name: module.RESOLUTION
        for name, module in WORKLOADS.items()
        if isinstance(module, IsOneDraw)
    }


def workload(name: str, parameters: Mapping[str, str]) -> WorkloadModule:
    """Return the workload called `name`, its parameters' names checked.

    Raises:
        InputError: There is no such workload or parameter.
    """
    module = WORKLOADS.get(name)
    if module is None:
        raise InputError(
            f"there is no workload '{name}'", hint=_meant(name, "workloads", tuple(WORKLOADS))
        )
    for key in parameters:
        if key not in module.PARAMETERS:
            raise InputError(
                f"the workload {name} has no parameter '{key}'",
                hint=_meant(key, "parameters", tuple(module.PARAMETERS)),
            )
    return module


def check(name: str, parameters: Mapping[str, str], instruments: Iterable[Instrument]) -> None:
    """Check a workload's parameters as far as that is possible without a machine.

    Raises:
        InputError: There is no such workload or parameter, or under each of the `instruments` the
            value of one is wrong.
    """
    module = workload(name, parameters)
    wrong: InputError | None = None
    for instrument in instruments:
        try:
            module.requests(parameters, instrument)
            for sized in (NeedsTree.tree, NeedsDisk.disk, CountsOperations.operations):
                size = getattr(module, sized.__name__, None)
                if size is not None:
                    size(parameters)
        except InputError as error:
            wrong = wrong or error
        else:
            return
    if wrong is not None:
        raise wrong


def _meant(word: str, what: str, known: tuple[str, ...]) -> str:
    close = difflib.get_close_matches(word, known, n=1)
    meant = f"did you mean '{close[0]}'? " if close else ""
    return f"{meant}the {what} are {', '.join(known)}"
