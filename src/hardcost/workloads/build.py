"""The workload `build`: programs compiled in the guest from C, linked, and run.

make starts a shell for each command, the shell the compiler, the compiler its parts: so there are
processes, files and memory as in a real build, most of it in the compiler itself. The sources are
the kernel's own portable tools; Makefile and check program lie in `building/`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Annotated, Literal

from pydantic import Field

from hardcost.errors import TrialError
from hardcost.instruments.instrument import Instrument
from hardcost.instruments.parallel import PARALLEL
from hardcost.instruments.windows import Windows, counted_ticks
from hardcost.protocol.answers import Answer, CommandAnswer, only
from hardcost.protocol.ask import install
from hardcost.protocol.requests import Command, Request
from hardcost.workloads.kind import WorkloadKind
from hardcost.workloads.metric import MetricSamples
from hardcost.workloads.parameters import WorkloadParameters, one_of, whole_number

_MOST_FILES = 13  # as many sources as there are
_MOST_JOBS = 16
_COMPILERS = ("gcc", "tcc")
_PLACE = "/usr/local/src/build"
_INSTALLED = ("Makefile", "check.c")
_SHOWN = 600  # characters of the compiler's words that an error repeats
_NS_PER_US = 1000  # under `insn` too: there an instruction takes a nanosecond of the guest's time


@dataclass(frozen=True)
class SourceFile:
    """A source file: part of the library or a program, and what the check prints for it."""

    name: str
    kind: Literal["library", "program"]
    check: str


class Parameters(WorkloadParameters):
    """What is compiled, and how."""

    compiler: Annotated[Literal["gcc", "tcc"], one_of("compilers", lambda: _COMPILERS)] = Field(
        "gcc", description="gcc or tcc (default: gcc)"
    )
    files: Annotated[int, whole_number(_MOST_FILES)] = Field(
        3, description="how many source files, 1 to 13 (default: 3; 9 make a whole library)"
    )
    jobs: Annotated[int, whole_number(_MOST_JOBS)] = Field(
        1,
        description="how many at a time, 1 to 16, on the guest's one processor (default: 1)",
    )


@cache
def sources() -> tuple[SourceFile, ...]:
    """Return all sources, in the order in which `files` takes them."""
    rows = tomllib.loads(_data("sources.toml").decode())["source"]
    return tuple(SourceFile(**row) for row in rows)


def requests(parameters: Parameters, instrument: Instrument) -> list[Request]:
    """Return the requests to the probe."""
    argv = [
        *("make", "--silent", f"--file={_PLACE}/Makefile", f"--jobs={parameters.jobs}"),
        f"CC={parameters.compiler}",
        *_variables(_chosen_sources(parameters)),
    ]
    installs = [install(f"{_PLACE}/{name}", _data(name)) for name in _INSTALLED]
    return [*installs, Command(clock=instrument.clock, argv=tuple(argv))]


def read_metrics(
    parameters: Parameters, answers: Sequence[Answer], instrument: Instrument
) -> tuple[MetricSamples, ...]:
    """Return the metrics `wall`, `user` and `system`, in the instrument's unit for a whole run.

    Raises:
        TrialError: The build failed, or what it built does something else than it should.
    """
    done = only(answers, CommandAnswer)
    _check(done, [f"{source.name} {source.check}" for source in _chosen_sources(parameters)])
    audit = done.audit
    metrics = {"wall": done.ticks}
    # On several processors the kernel's accounts are in a clock that runs as fast as all together.
    if instrument is not PARALLEL:
        metrics |= {"user": done.user * _NS_PER_US, "system": done.system * _NS_PER_US}
    return tuple(
        MetricSamples(
            metric=name,
            unit=instrument.whole,
            samples=(amount,),
            fired=None if audit is None else audit.by_key,
            lost=0 if audit is None else audit.lost,
        )
        for name, amount in metrics.items()
    )


def windows(
    parameters: Parameters,  # noqa: ARG001  (the interface's)
    answers: Sequence[Answer],
    instrument: Instrument,  # noqa: ARG001  (the same)
) -> tuple[Windows, ...]:
    """Return the only window, which is the whole build."""
    return (Windows("wall", (counted_ticks(only(answers, CommandAnswer)) or 0,)),)


def _check(done: CommandAnswer, expected: Sequence[str]) -> None:
    """Check that the build succeeded, and that the programs that were built work."""
    said = done.stderr[:_SHOWN].strip()
    if done.status != 0:
        raise TrialError(f"the build ended with {done.how} in the guest: {said}")
    printed = done.stdout.splitlines()
    wrong = sorted(set(expected).symmetric_difference(printed))
    if printed != expected:
        raise TrialError(
            f"what was built in the guest works wrongly: {', '.join(wrong)[:_SHOWN]} {said}",
            hint="the compiler, or the memory that it worked on, can't be trusted",
        )


def _chosen_sources(parameters: Parameters) -> tuple[SourceFile, ...]:
    return sources()[: parameters.files]


def _variables(chosen: Sequence[SourceFile]) -> list[str]:
    """Return make's variables that say what to build."""
    library = " ".join(source.name for source in chosen if source.kind == "library")
    programs = " ".join(source.name for source in chosen if source.kind == "program")
    return [f"FILES={len(chosen)}", f"LIBRARY={library}", f"PROGRAMS={programs}"]


def _data(name: str) -> bytes:
    return (resources.files("hardcost.workloads") / "building" / name).read_bytes()


KIND = WorkloadKind(
    name="build",
    title=(
        "C programs compiled in the guest, whole (wall) and as the kernel accounts it to programs"
        " (user) and to itself (system); that division is sampled at each tick of the clock"
    ),
    parameters=Parameters,
    audit_note=(
        "a build's cost holds handing its audit records to the daemon, which here only counts them"
    ),
    guest="compiler",
    requests=requests,
    measured=read_metrics,
    windows=windows,
)
