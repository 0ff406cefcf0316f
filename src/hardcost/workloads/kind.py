"""The facts about a workload in its file, as its `KIND`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Literal

from hardcost.instruments.instrument import Instrument
from hardcost.instruments.windows import Together, Windows
from hardcost.model.observation import Observed
from hardcost.protocol.answers import Answer
from hardcost.protocol.requests import Request
from hardcost.workloads import parameters
from hardcost.workloads.metric import MetricSamples
from hardcost.workloads.parameters import Asked, WorkloadParameters


def _no_counts(_: Sequence[Answer]) -> tuple[Observed, ...]:
    return ()


def _no_operations(_: WorkloadParameters) -> dict[str, int]:
    return {}


def _zero(_: WorkloadParameters) -> int:
    return 0


def _no_remedy(_parameters: WorkloadParameters, _guest: str, _reason: str) -> None:
    return None


@dataclass(frozen=True, kw_only=True)
class WorkloadKind(Generic[Asked]):
    """A workload: its parameters, its requests to the probe, and the metrics of its answers.

    `title` says what it does and what is measured, `audit_note` what a cost holds of the work on
    audit records, `settings` what else a reader has to know. `guest` is what the guest has to hold,
    `packages` are the Debian packages whose versions belong to a result. `requests` is what the
    probe is asked to do, `measured` the metrics out of its answers.

    A workload of a whole system is one draw: `resolution` is how near to 1 a ratio of two such
    trials says nothing (0.005: half a per cent; 0: it is none). `perturbed` is what the probe is
    asked to do to measure what `moves` under several perturbations in one trial, where it knows
    how. `windows` are the samples in the order of the trial, without which none can be counted by
    function. `program` is the name of the process whose one call is the workload.

    `counted` is of whose operations a processor counts instructions and cycles; `operations` how
    many each program carries out, 0 where it finishes another's. `tree` is how many files of
    Linux's source are to lie under /srv/tree, `disk` how many GiB the root has to have, 0 if any
    will do. `remedy` is what to do where a trial failed for a reason in a guest, if it is known.
    """

    name: str
    title: str
    parameters: type[Asked]
    audit_note: str
    guest: Literal["small", "compiler", "debian"]
    requests: Callable[[Asked, Instrument], list[Request]]
    measured: Callable[[Asked, Sequence[Answer], Instrument], tuple[MetricSamples, ...]]
    packages: tuple[str, ...] = ()
    settings: str = ""
    resolution: float = 0.0
    program: str | None = None
    moves: Callable[[Asked], bool] | None = None
    perturbed: Callable[[Asked, Instrument, Sequence[int]], list[Request]] | None = None
    windows: (
        Callable[[Asked, Sequence[Answer], Instrument], tuple[Windows | Together, ...]] | None
    ) = None
    counted: Callable[[Sequence[Answer]], tuple[Observed, ...]] = _no_counts
    operations: Callable[[Asked], dict[str, int]] = _no_operations
    tree: Callable[[Asked], int] = _zero
    disk: Callable[[Asked], int] = _zero
    remedy: Callable[[Asked, str, str], str | None] = _no_remedy

    def read_parameters(self, words: Mapping[str, str]) -> Asked:
        """Return what `words`, by the names of parameters, ask of the workload.

        Raises:
            InputError: There is no parameter of a name, one is missing, or one has a wrong value;
                the error holds all that is wrong.
        """
        return parameters.read(self.name, self.parameters, words)
