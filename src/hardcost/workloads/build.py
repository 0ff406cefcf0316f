"""The workload `build`: programs compiled in the guest from C, linked, and run.

make starts a shell for each command, the shell the compiler, the compiler its parts: so there are
processes, files and memory as in a real build, most of it in the compiler itself. The sources are
the kernel's own portable tools; Makefile and check program lie in `building/`.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import Field

from hardcost.errors import TrialError
from hardcost.instruments.windows import Windows
from hardcost.protocol.answers import CommandAnswer, only
from hardcost.protocol.requests import Command, install
from hardcost.workloads.measured import Measured
from hardcost.workloads.parameters import WorkloadParameters, one_of, whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.instruments.instrument import Instrument
    from hardcost.protocol.answers import Answer
    from hardcost.protocol.requests import Request

NAME = "build"
TITLE = (
    "C programs compiled in the guest, whole (wall) and as the kernel accounts it to programs"
    " (user) and to itself (system); that division is sampled at each tick of the clock"
)
AUDIT_NOTE = (
    "a build's cost holds handing its audit records to the daemon, which here only counts them"
)
GUEST: Final = "compiler"
PACKAGES: Final[tuple[str, ...]] = ()
_MOST_FILES = 13  # as many sources as there are
_MOST_JOBS = 16
_COMPILERS = ("gcc", "tcc")
_PLACE = "/usr/local/src/build"
_INSTALLED = ("Makefile", "check.c")
_SHOWN = 600  # characters of the compiler's words that an error repeats
_NS_PER_US = 1000  # under `insn` too: there an instruction takes a nanosecond of the guest's time


@dataclass(frozen=True)
class Source:
    """A source file: part of the library or a program, and what the check prints for it."""

    name: str
    kind: Literal["library", "program"]
    check: str


class Parameters(WorkloadParameters):
    """What is compiled, and how."""

    compiler: Annotated[Literal["gcc", "tcc"], one_of("compilers", lambda: _COMPILERS)] = Field(
        "gcc", description="gcc or tcc (default: gcc)"
    )
    files: Annotated[int, whole(_MOST_FILES)] = Field(
        3, description="how many source files, 1 to 13 (default: 3; 9 make a whole library)"
    )
    jobs: Annotated[int, whole(_MOST_JOBS)] = Field(
        1,
        description="how many at a time, 1 to 16, on the guest's one processor (default: 1)",
    )


@cache
def sources() -> tuple[Source, ...]:
    """Return all sources, in the order in which `files` takes them."""
    rows = tomllib.loads(_data("sources.toml").decode())["source"]
    return tuple(Source(**row) for row in rows)


def requests(parameters: Parameters, instrument: Instrument) -> list[Request]:
    """Return what the probe is asked to do."""
    argv = [
        *("make", "--silent", f"--file={_PLACE}/Makefile", f"--jobs={parameters.jobs}"),
        f"CC={parameters.compiler}",
        *_variables(_chosen(parameters)),
    ]
    installs = [install(f"{_PLACE}/{name}", _data(name)) for name in _INSTALLED]
    return [*installs, Command(clock=instrument.clock, argv=tuple(argv))]


def measured(
    parameters: Parameters, answers: Sequence[Answer], instrument: Instrument
) -> tuple[Measured, ...]:
    """Return the metrics `wall`, `user` and `system`, in the instrument's unit for a whole run.

    Raises:
        TrialError: The build failed, or what it built does something else than it should.
    """
    done = only(answers, CommandAnswer)
    _check(done, [f"{source.name} {source.check}" for source in _chosen(parameters)])
    audit = done.audit
    metrics = {
        "wall": done.ticks,
        "user": done.user * _NS_PER_US,
        "system": done.system * _NS_PER_US,
    }
    return tuple(
        Measured(
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
    """Return the build."""
    return (Windows("wall", (only(answers, CommandAnswer).ticks,)),)


def _check(done: CommandAnswer, expected: Sequence[str]) -> None:
    """Make sure that the build went well and that what was built works."""
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


def _chosen(parameters: Parameters) -> tuple[Source, ...]:
    return sources()[: parameters.files]


def _variables(chosen: Sequence[Source]) -> list[str]:
    """Return the variables that tell make what to build."""
    library = " ".join(source.name for source in chosen if source.kind == "library")
    programs = " ".join(source.name for source in chosen if source.kind == "program")
    return [f"FILES={len(chosen)}", f"LIBRARY={library}", f"PROGRAMS={programs}"]


def _data(name: str) -> bytes:
    return (resources.files("hardcost.workloads") / "building" / name).read_bytes()
