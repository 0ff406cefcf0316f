"""The workload `command`: a program of the user's own, from start to end.

The program is a static binary where the small guest runs it, which holds hardly any libraries; it
runs as an ordinary user and is measured from its start until it is reaped.

Under the instruction counter it runs several times. The first run fills caches; the others begin
at distances from the kernel's tick that are spread evenly, so that it does not depend on chance
whether a tick (some 10,000 instructions) falls into a short program. A program that takes a billion
instructions runs once: to it, a tick more or less is nothing.
"""

from __future__ import annotations

import re
import shutil
import statistics
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field

from auditrules.library import files
from hardcost.errors import InputError, TrialError
from hardcost.instruments.instrument import Instrument
from hardcost.instruments.windows import Windows, counted_ticks
from hardcost.protocol.answers import Answer, CommandAnswer, all_of
from hardcost.protocol.ask import install
from hardcost.protocol.requests import Command, Request
from hardcost.workloads.kind import WorkloadKind
from hardcost.workloads.metric import MetricSamples
from hardcost.workloads.parameters import WorkloadParameters, whole_number

_HINT = "the small guest runs static binaries: link yours with -static"
_PLACE = "/usr/local/bin/command"
_RUNS = 9  # one to fill caches, and one at each eighth of the time between two ticks
_MOST_RUNS = 1000
_ENOUGH = 1_000_000_000  # instructions, after which no further run begins
_NOT_FOUND = 127  # a shell's status for it, and the dynamic loader's
_NO_LIBRARY = re.compile(r"shared librar\w+: ([^\s:]+)")
_NO_LOADER = "os error 2"  # of a file that is there: what it is to be loaded by is not
_LIMIT = 32 << 20  # bytes of a program: the guest's memory holds it three times


def _arguments(value: object) -> object:
    """Return the arguments that `+` joins; none of an empty text."""
    if not isinstance(value, str):
        return value
    return tuple(value.split("+")) if value else ()


class Parameters(WorkloadParameters):
    """Which program runs, and how often."""

    file: str = Field(
        description="the program on this machine (required; an x86_64 binary, a static one unless"
        ' the guest is a whole Debian, as a study with lsm = "none" has it)'
    )
    args: Annotated[tuple[str, ...], BeforeValidator(_arguments)] = Field(
        (), description="its arguments, joined by '+'"
    )
    runs: Annotated[int | None, whole_number(_MOST_RUNS)] = Field(
        None,
        description="how often to run it in a trial, the first time unmeasured; 1 runs and measures"
        " it once (default: 9, fewer where it takes long)",
    )

    def check(self, instrument: Instrument) -> None:  # noqa: ARG002  (the interface's)
        """Look at the program.

        Raises:
            InputError: It can't be read, or is not a program's file.
        """
        _program(self.file)


def requests(parameters: Parameters, instrument: Instrument) -> list[Request]:
    """Return the requests to the probe.

    Raises:
        InputError: The program can't be read, or is not a program's file.
    """
    content = _program(parameters.file)
    return [
        install(_PLACE, content, 0o755),
        Command(
            clock=instrument.clock,
            argv=(_PLACE, *parameters.args),
            runs=_runs(parameters, instrument),
            enough=_ENOUGH,
        ),
    ]


def read_metrics(
    parameters: Parameters, answers: Sequence[Answer], instrument: Instrument
) -> tuple[MetricSamples, ...]:
    """Return the one metric `wall`, in the instrument's unit for a whole run: a sample for each.

    The first of several runs is left out. In the others, as many ticks count as fall into so long a
    time on average, not those that happened to.

    Raises:
        TrialError: The program failed: its cost would mean nothing.
    """
    runs = all_of(answers, CommandAnswer)
    if not runs:
        raise TrialError("the machine did not run the program")
    for done in runs:
        if done.status != 0:
            raise TrialError(
                f"{parameters.file} ended with {done.how}: {done.stderr[:200]!r}",
                hint="runs=1 if it can't be run twice" if done is not runs[0] else None,
            )
    kept = runs[1:] or runs
    audits = [done.audit for done in kept if done.audit is not None]
    return (
        MetricSamples(
            metric="wall",
            unit=instrument.whole,
            samples=_even_ticks(kept),
            fired=dict(sum((Counter(one.by_key) for one in audits), Counter())) if audits else None,
            lost=sum(one.lost for one in audits),
        ),
    )


def windows(
    parameters: Parameters,  # noqa: ARG001  (the interface's)
    answers: Sequence[Answer],
    instrument: Instrument,  # noqa: ARG001  (the same)
) -> tuple[Windows, ...]:
    """Return the runs, of which the first of several is no sample."""
    ticks = tuple(counted_ticks(done) or 0 for done in all_of(answers, CommandAnswer))
    return (Windows("wall", ticks, dropped=1 if len(ticks) > 1 else 0),)


def _runs(parameters: Parameters, instrument: Instrument) -> int:
    """Return how often the program runs."""
    return parameters.runs or (_RUNS if instrument.exact else 1)


def _even_ticks(runs: Sequence[CommandAnswer]) -> tuple[float, ...]:
    """Return what each run takes, with as many ticks as fall into so long a time on average.

    A tick's own work is the difference between runs with more ticks and runs with fewer.
    """
    taken = [run.ticks for run in runs]
    ticks = [run.interruptions for run in runs]
    period = runs[0].period
    fewest = min(ticks)
    if not period or fewest == max(ticks):
        return tuple(taken)
    fewer = [time for time, count in zip(taken, ticks, strict=True) if count == fewest]
    more = [(time, count) for time, count in zip(taken, ticks, strict=True) if count == fewest + 1]
    each = statistics.median(time for time, _ in more) - statistics.median(fewer) if more else 0.0
    average = statistics.median(taken) / period
    if abs(average - statistics.mean(ticks)) > 1:  # it was idle at times, when there are no ticks
        average = statistics.mean(ticks)
    return tuple(time + each * (average - count) for time, count in zip(taken, ticks, strict=True))


def remedy(parameters: Parameters, guest: str, reason: str) -> str | None:
    """Return what to do where a trial failed for what `guest` lacks; None where that is not why."""
    library = _NO_LIBRARY.search(reason)
    loader = _PLACE in reason and _NO_LOADER in reason
    if library is None and not loader and f"status {_NOT_FOUND}" not in reason:
        return None
    what = f"the library {library[1]}" if library else "what the program is loaded by or starts"
    file = parameters.file
    if guest == "debian":
        return (
            f"this Debian guest does not hold {what}: link {file} with -static, or bring a system"
            " that holds it by --image or --rootfs"
        )
    return (
        f"the small guest does not hold {what}: link {file} with -static, or run it in a whole"
        ' Debian: `hardcost run STUDY.toml` with lsm = "none" in each [[configuration]]'
    )


def _program(file: str) -> bytes:
    path = Path(file)
    elsewhere = shutil.which(path) if len(path.parts) == 1 else None
    hint = f"file={elsewhere} names the one on your PATH" if elsewhere else _HINT
    content = files.content(path, "the program", _LIMIT, hint)
    if not content.startswith(b"\x7fELF"):
        raise InputError(
            f"{path} is not a program that the machine can run: it is no ELF file",
            hint="a script is an argument of its interpreter, whose file is the program",
        )
    return content


KIND = WorkloadKind(
    name="command",
    title="a program of your own (linked with -static), from start to end, its waiting included",
    parameters=Parameters,
    audit_note=(
        "the program's cost holds handing its audit records to the daemon, which here only counts"
        " them"
    ),
    guest="small",
    requests=requests,
    measured=read_metrics,
    windows=windows,
    remedy=remedy,
)
