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
from typing import TYPE_CHECKING, Final, Literal

from hardcost.errors import InputError, TrialError
from hardcost.protocol.answers import CommandAnswer, only
from hardcost.protocol.requests import Command, install
from hardcost.workloads import programs
from hardcost.workloads.measured import Measured

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hardcost.instruments.instrument import Instrument
    from hardcost.protocol.answers import Answer
    from hardcost.protocol.requests import Request

NAME = "build"
TITLE = (
    "C programs compiled in the guest, whole (wall) and as the kernel accounts it to programs"
    " (user) and to itself (system); that division is sampled at each tick of the clock"
)
PARAMETERS = {
    "compiler": "gcc or tcc (default: gcc)",
    "files": "how many source files, 1 to 13 (default: 3; 9 make a whole library)",
    "jobs": "how many at a time, 1 to 16, on the guest's one processor (default: 1)",
}
AUDIT_NOTE = (
    "a build's cost holds handing its audit records to the daemon, which here only counts them"
)
GUEST: Final = "compiler"
PACKAGES: Final[tuple[str, ...]] = ()
_FILES = 3
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


@cache
def sources() -> tuple[Source, ...]:
    """Return all sources, in the order in which `files` takes them."""
    rows = tomllib.loads(_data("sources.toml").decode())["source"]
    return tuple(Source(**row) for row in rows)


def requests(parameters: Mapping[str, str], instrument: Instrument) -> list[Request]:
    """Return what the probe is asked to do.

    Raises:
        InputError: A parameter's value is none of those that there are.
    """
    compiler = parameters.get("compiler", _COMPILERS[0])
    if compiler not in _COMPILERS:
        raise InputError(
            f"the workload {NAME} has no compiler '{compiler}'",
            hint=f"there are {' and '.join(_COMPILERS)}",
        )
    jobs = _number(parameters, "jobs", 1, _MOST_JOBS)
    argv = [
        *("make", "--silent", f"--file={_PLACE}/Makefile", f"--jobs={jobs}"),
        f"CC={compiler}",
        *_variables(_chosen(parameters)),
    ]
    installs = [install(f"{_PLACE}/{name}", _data(name)) for name in _INSTALLED]
    return [*installs, Command(clock=instrument.clock, argv=tuple(argv))]


def measured(
    parameters: Mapping[str, str], answers: Sequence[Answer], instrument: Instrument
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


def _chosen(parameters: Mapping[str, str]) -> tuple[Source, ...]:
    return sources()[: _number(parameters, "files", _FILES, len(sources()))]


def _number(parameters: Mapping[str, str], name: str, default: int, most: int) -> int:
    text = parameters.get(name, str(default))
    if not programs.is_number(text, most) or int(text) < 1:
        raise InputError(
            f"the workload {NAME} can't take '{text}' for {name}",
            hint=f"it is a number from 1 to {most}",
        )
    return int(text)


def _variables(chosen: Sequence[Source]) -> list[str]:
    """Return the variables that tell make what to build."""
    library = " ".join(source.name for source in chosen if source.kind == "library")
    programs = " ".join(source.name for source in chosen if source.kind == "program")
    return [f"FILES={len(chosen)}", f"LIBRARY={library}", f"PROGRAMS={programs}"]


def _data(name: str) -> bytes:
    return (resources.files("hardcost.workloads") / "building" / name).read_bytes()
