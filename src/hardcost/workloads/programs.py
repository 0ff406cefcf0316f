"""Common parts of workloads of a whole Debian guest: the ordinary user's programs, and their end.

A failed program is reported in its own words, so that a full disk or a refusal by SELinux is
known for what it is.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from hardcost.errors import TrialError
from hardcost.instruments.instrument import Instrument
from hardcost.instruments.windows import Windows, counted_ticks
from hardcost.protocol.answers import Answer, RanAnswer, all_of, find
from hardcost.protocol.ask import run
from hardcost.protocol.requests import USER, RunProgram
from hardcost.workloads.metric import MetricSamples

HOME: Final = "/home/user"
"""The ordinary user's home, on the guest's disk."""

CONTEXT: Final = "unconfined_u:unconfined_r:unconfined_t:s0"
"""SELinux's context of a user who has logged in."""

_SHOWN: Final = 600  # characters of a program's words that an error repeats
_LONGEST: Final = 18  # digits of a number
MOST: Final = 10**_LONGEST - 1
"""The largest number that is read."""

_SPARE_GIB: Final = 1
_IN_ANY_CASE_GIB: Final = 3  # free on a root of the usual size


def as_user(  # noqa: PLR0913  (each is a property of a process)
    name: str,
    argv: Sequence[str],
    instrument: Instrument | None = None,
    *,
    user: str = "user",
    environment: Mapping[str, str] | None = None,
    expect: int | None = None,
    limit_seconds: float = 600,
) -> RunProgram:
    """Return the request to run a program as a user who has logged in, from the home directory.

    It is measured where there is an instrument. Any exit status will do, unless there is
    one to `expect`: `successful_answer` says what it means.
    """
    return run(
        name,
        argv,
        clock=None if instrument is None else instrument.clock,
        user=user,
        login=USER,
        context=CONTEXT,
        environment={"LC_ALL": "C.UTF-8", "HOME": HOME, **(environment or {})},
        folder=HOME,
        expect=expect,
        limit_seconds=limit_seconds,
    )


def successful_answer(answers: Sequence[Answer], name: str, doing: str) -> RanAnswer:
    """Return the answer of the program called `name`, which ended well.

    Raises:
        TrialError: It did not run or failed; the error holds its words, and `doing` says what for.
    """
    answer = find(answers, RanAnswer, name)
    if answer is None:
        raise TrialError(f"{doing}: the guest did not run it")
    if answer.status == 0:
        return answer
    words = (answer.stderr or answer.stdout).strip()[:_SHOWN]
    raise TrialError(f"{doing} ended with {answer.how}: {words}")


def ticks(answer: RanAnswer) -> int:
    """Return what a measured program took, in the clock's unit.

    Raises:
        TrialError: The guest did not measure it.
    """
    if answer.ticks is None:
        raise TrialError(f"the guest did not measure '{answer.name}'")
    return answer.ticks


def metric(name: str, unit: str, amount: float, answers: Sequence[RanAnswer] = ()) -> MetricSamples:
    """Return a metric with one sample, and the audit events of the programs that it is about."""
    audits = [answer.audit for answer in answers if answer.audit is not None]
    fired: dict[str, int] = {}
    for audit in audits:
        for key, count in audit.by_key.items():
            fired[key] = fired.get(key, 0) + count
    lost = sum(audit.lost for audit in audits)
    return MetricSamples(
        metric=name, unit=unit, samples=(amount,), fired=fired if audits else None, lost=lost
    )


def windows(answers: Sequence[Answer], names: Iterable[str], operations: int = 1) -> list[Windows]:
    """Return the runs of measured programs, of so many operations each, in their order."""
    ran = {answer.name: answer for answer in all_of(answers, RanAnswer)}
    return [
        Windows(name, (counted_ticks(ran[name]) or 0,), operations=operations) for name in names
    ]


def is_number(text: str, most: int) -> bool:
    """Say whether a text is a whole number from 0 to `most`, as one writes it."""
    return text.isascii() and text.isdecimal() and len(text) <= _LONGEST and int(text) <= most


def in_order(names: Iterable[str], known: Iterable[str]) -> tuple[str, ...]:
    """Return the names in the order of those `known`."""
    wanted = set(names)
    return tuple(name for name in known if name in wanted)


def disk(size: int) -> int:
    """Return how many GiB a root needs to hold `size` bytes more; 0 where the usual one will do."""
    wanted = math.ceil(size / (1 << 30)) + _SPARE_GIB
    return wanted if wanted > _IN_ANY_CASE_GIB else 0
