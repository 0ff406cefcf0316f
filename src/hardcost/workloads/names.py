"""The workloads by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, runtime_checkable

from hardcost.errors import InputError
from hardcost.workloads import (
    apache,
    build,
    command,
    dd,
    filecopy,
    fio,
    mariadb,
    onecall,
    parameters,
    postfix,
    syscalls,
    syscallsmore,
    unixbench,
)
from hardcost.workloads.parameters import WorkloadParameters

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hardcost.instruments.instrument import Instrument
    from hardcost.instruments.observed import Observed
    from hardcost.instruments.windows import Together, Windows
    from hardcost.protocol.answers import Answer
    from hardcost.protocol.requests import Request
    from hardcost.workloads.measured import Measured

Asked = TypeVar("Asked", bound=WorkloadParameters)
Taken_contra = TypeVar("Taken_contra", bound=WorkloadParameters, contravariant=True)


class WorkloadModule(Protocol[Asked]):
    """What the file of a workload holds.

    `Parameters` are what it can be asked for, `AUDIT_NOTE` says what a cost holds of the work on
    audit records, `GUEST` what the guest has to hold, `PACKAGES` the Debian packages whose versions
    belong to a result.
    """

    @property
    def NAME(self) -> str:  # noqa: N802  (workloads are modules, whose names are constants)
        """What the workload is called."""

    @property
    def TITLE(self) -> str:  # noqa: N802  (the same)
        """What it does and what is measured."""

    @property
    def Parameters(self) -> type[Asked]:  # noqa: N802  (a class)
        """The class of its parameters."""

    @property
    def AUDIT_NOTE(self) -> str:  # noqa: N802  (a constant)
        """What a cost holds of the work on audit records."""

    @property
    def GUEST(self) -> Literal["small", "compiler", "debian"]:  # noqa: N802  (a constant)
        """What the guest has to hold."""

    @property
    def PACKAGES(self) -> tuple[str, ...]:  # noqa: N802  (a constant)
        """The Debian packages that it drives."""

    def requests(self, parameters: Asked, instrument: Instrument) -> list[Request]:
        """Return what the probe is asked to do."""

    def measured(
        self,
        parameters: Asked,
        answers: Sequence[Answer],
        instrument: Instrument,
    ) -> tuple[Measured, ...]:
        """Return the metrics out of the probe's answers."""


@runtime_checkable
class KnowsRemedy(Protocol[Taken_contra]):
    """A workload that knows what to do about some failures."""

    def remedy(self, parameters: Taken_contra, guest: str, reason: str) -> str | None:
        """Return what to do where a trial failed for a `reason` in a `guest`; None: not known."""


@runtime_checkable
class NeedsTree(Protocol[Taken_contra]):
    """A workload that works on files of Linux's source."""

    def tree(self, parameters: Taken_contra) -> int:
        """Return how many files it wants under /srv/tree."""


@runtime_checkable
class CountsOperations(Protocol[Taken_contra]):
    """A workload that carries out many requests, mails or transactions in one program."""

    def operations(self, parameters: Taken_contra) -> dict[str, int]:
        """Return how many, by the name of the program; 0 for one that finishes another's."""


@runtime_checkable
class HasCounters(Protocol):
    """A workload of whose operations a processor counts instructions and cycles."""

    def counted(self, answers: Sequence[Answer]) -> tuple[Observed, ...]:
        """Return what it counted; () where it does not count."""


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
class HasWindows(Protocol[Taken_contra]):
    """A workload whose samples can be profiled."""

    def windows(
        self, parameters: Taken_contra, answers: Sequence[Answer], instrument: Instrument
    ) -> tuple[Windows | Together, ...]:
        """Return what was measured, in the order of the trial."""


@runtime_checkable
class MakesOneCall(Protocol):
    """A workload that is one call, of the process whose name is `PROGRAM`."""

    PROGRAM: str


@runtime_checkable
class MeasuresPerturbed(Protocol[Taken_contra]):
    """A workload that can measure what moves under several perturbations in one trial."""

    def moves(self, parameters: Taken_contra) -> bool:
        """Say whether anything of it depends on what means nothing."""

    def requests(
        self, parameters: Taken_contra, instrument: Instrument, perturbations: Sequence[int] = (0,)
    ) -> list[Request]:
        """Return what the probe is asked to do: what moves, under each of the perturbations."""


@runtime_checkable
class NeedsDisk(Protocol[Taken_contra]):
    """A workload that may write more than a guest's root usually holds."""

    def disk(self, parameters: Taken_contra) -> int:
        """Return how many GiB the root has to have; 0 if any will do."""


_MODULES: tuple[WorkloadModule[Any], ...] = (
    *(syscalls, syscallsmore, command, build, filecopy, fio, dd, unixbench),
    *(apache.PREFORK, apache.WORKER, postfix, mariadb),
)

WORKLOADS = {module.NAME: module for module in _MODULES}

_OF_VERBS: dict[str, WorkloadModule[Any]] = {onecall.NAME: onecall}
"""What verbs run of their own accord, and nobody names."""


def resolutions() -> dict[str, float]:
    """Return the resolution of each workload of which one trial is one draw, by name."""
    return {
        name: module.RESOLUTION
        for name, module in WORKLOADS.items()
        if isinstance(module, IsOneDraw)
    }


def workload(name: str) -> WorkloadModule[Any]:
    """Return the workload called `name`.

    Raises:
        InputError: There is none.
    """
    module = WORKLOADS.get(name) or _OF_VERBS.get(name)
    if module is None:
        hint = parameters.meant(name, "workloads", WORKLOADS)
        raise InputError(f"there is no workload '{name}'", hint=hint)
    return module


def asked(module: WorkloadModule[Asked], words: Mapping[str, str]) -> Asked:
    """Return what `words`, by the names of parameters, ask of a workload.

    Raises:
        InputError: There is no parameter of a name, one is missing, or one has a wrong value; the
            error holds all that is wrong.
    """
    return parameters.read(module.NAME, module.Parameters, words)


def check(name: str, words: Mapping[str, str], instruments: Iterable[Instrument]) -> None:
    """Check a workload's parameters as far as that is possible without a machine.

    Raises:
        InputError: There is no such workload or parameter, or under each of the `instruments` the
            value of one is wrong.
    """
    found = asked(workload(name), words)
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
