"""Common parts of workloads that drive a server: the number of clients, and the result.

A server is started as the system would start it, so that SELinux takes it to its own domain, and is
stopped at the end; neither is measured. What drives it is a program of the ordinary user. Where
SELinux is on and a server is in another domain than its own, the trial fails: what would be
measured is no confined server.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from hardcost.errors import TrialError
from hardcost.instruments.instrument import Instrument
from hardcost.instruments.windows import Together, Windows
from hardcost.protocol.answers import Answer, RanAnswer, StartedAnswer, find
from hardcost.protocol.ask import run
from hardcost.protocol.requests import RunProgram
from hardcost.workloads import programs
from hardcost.workloads.metric import MetricSamples
from hardcost.workloads.parameters import refusal

LIMIT_SECONDS = 3600
"""How long a load may take, in seconds of the guest's time."""

_PARTS_OF_A_CONTEXT = 3  # user, role and type; a level may follow


def check_work(concurrencies: Sequence[int], work: int) -> None:
    """Check, as a validator of parameters, that there is `work` for as many clients at once.

    Raises:
        PydanticCustomError: There are more clients than there is work.
    """
    for clients in concurrencies:
        if clients > work:
            hint = f"it is numbers from 1 to {work}, joined by '+'; there is work for {work}"
            raise refusal(str(clients), hint, key="concurrency")


def labels(*paths: str) -> RunProgram:
    """Return the request to label what was written, where SELinux is on; else it does nothing."""
    return run("labels", ["restorecon", "-RF", *paths], expect=None)


def check_domain(answers: Sequence[Answer], service: str, domain: str) -> None:
    """Make sure that a service answered, and is in its own domain where SELinux is on.

    Raises:
        TrialError: It isn't.
    """
    answer = find(answers, StartedAnswer, service)
    if answer is None:
        raise TrialError(f"{service} was not started")
    parts = (answer.context or "").split(":")
    if len(parts) >= _PARTS_OF_A_CONTEXT and parts[2] != domain:
        raise TrialError(
            f"{service} runs as {':'.join(parts)}, not in its own domain {domain}",
            hint="are the guest's files labelled? SELinux confines it otherwise than it should",
        )


def per_operation(
    name: str, instrument: Instrument, operations: int, *answers: RanAnswer
) -> MetricSamples:
    """Return a metric: what the programs of `answers` took together, for each operation."""
    ticks = sum(programs.ticks(answer) for answer in answers)
    return programs.metric(name, instrument.per_op, ticks / operations, answers)


def whole_metric(name: str, instrument: Instrument, answers: Sequence[RanAnswer]) -> MetricSamples:
    """Return a metric: what the programs of `answers` took together."""
    ticks = sum(programs.ticks(answer) for answer in answers)
    return programs.metric(name, instrument.whole, ticks, answers)


def windows(
    answers: Sequence[Answer], names: Sequence[str], operations: int
) -> tuple[Windows | Together, ...]:
    """Return what the programs called `names` took for each operation, and all of them together."""
    each = programs.windows(answers, names, operations)
    return (*each, Together("all", tuple(names)))


def find_deviations(said: str, line: re.Pattern[str], expected: Mapping[str, int]) -> list[str]:
    """Return where a program's report has other numbers than expected, or does not say one.

    `line` finds the report's lines, with a name and a number as its groups.
    """
    found = {
        name: int(number)
        for name, number in line.findall(said)
        if programs.is_number(number, programs.MOST)
    }
    return [
        f"{name} {found.get(name, 'not said')} instead of {number}"
        for name, number in expected.items()
        if found.get(name) != number
    ]
