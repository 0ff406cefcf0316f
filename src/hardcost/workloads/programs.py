"""What workloads of a whole Debian guest share: programs of the ordinary user, and how they ended.

A program that failed is told with its own words, so that a full disk or a refusal by SELinux is
known for what it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hardcost.errors import InputError, TrialError
from hardcost.protocol.answers import RanAnswer, find
from hardcost.protocol.requests import USER, Run, run
from hardcost.workloads.measured import Measured

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hardcost.instruments.instrument import Instrument
    from hardcost.protocol.answers import Answer

HOME: Final = "/home/user"
"""The ordinary user's home, on the guest's disk."""

CONTEXT: Final = "unconfined_u:unconfined_r:unconfined_t:s0"
"""Of somebody who has logged in, to SELinux."""

_LONGEST: Final = 18  # digits of a number
MOST: Final = 10**_LONGEST - 1
"""The largest number that is read."""
_SHOWN: Final = 600  # characters of a program's words that an error repeats


def as_user(  # noqa: PLR0913  (each is a property of a process)
    name: str,
    argv: Sequence[str],
    instrument: Instrument | None = None,
    *,
    user: str = "user",
    environment: Mapping[str, str] | None = None,
    expect: int | None = None,
    limit_seconds: float = 600,
) -> Run:
    """Return the request to run a program as somebody who has logged in, from his home.

    It is measured where there is an instrument. Any exit status will do, unless there is
    one to `expect`: `done` says what it means.
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


def done(answers: Sequence[Answer], name: str, doing: str) -> RanAnswer:
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


def metric(name: str, unit: str, amount: float, answers: Sequence[RanAnswer] = ()) -> Measured:
    """Return a metric with one sample, and the audit events of the programs that it is about."""
    audits = [answer.audit for answer in answers if answer.audit is not None]
    fired: dict[str, int] = {}
    for audit in audits:
        for key, count in audit.by_key.items():
            fired[key] = fired.get(key, 0) + count
    lost = sum(audit.lost for audit in audits)
    return Measured(
        metric=name, unit=unit, samples=(amount,), fired=fired if audits else None, lost=lost
    )


def is_number(text: str, most: int) -> bool:
    """Say whether a text is a whole number from 0 to `most`, as one writes it."""
    return text.isascii() and text.isdecimal() and len(text) <= _LONGEST and int(text) <= most


def number(  # noqa: PLR0913  (all of it is said in the error)
    workload: str,
    parameters: Mapping[str, str],
    name: str,
    default: int,
    *,
    most: int,
    least: int = 1,
) -> int:
    """Return a parameter that is a whole number.

    Raises:
        InputError: It is none, or is not between `least` and `most`.
    """
    text = parameters.get(name, str(default))
    if not is_number(text, most) or int(text) < least:
        raise InputError(
            f"the workload {workload} can't take '{text}' for {name}",
            hint=f"it is a number from {least} to {most}",
        )
    return int(text)


def check_once(workload: str, name: str, words: Sequence[str]) -> None:
    """Check that a parameter names nothing twice.

    Raises:
        InputError: It does.
    """
    twice = next((word for at, word in enumerate(words) if word in words[:at]), None)
    if twice is not None:
        raise InputError(
            f"'{twice}' stands twice in {name} of the workload {workload}",
            hint="it is measured once: leave one of them out",
        )


def chosen(
    workload: str, parameters: Mapping[str, str], name: str, known: Sequence[str]
) -> tuple[str, ...]:
    """Return the names, joined by `+`, that a parameter holds, in the order of `known`; else all.

    Raises:
        InputError: A name is not among those known.
    """
    if name not in parameters:
        return tuple(known)
    words = parameters[name].split("+")
    check_once(workload, name, words)
    for word in words:
        if word not in known:
            raise InputError(
                f"the workload {workload} has no '{word}' among its {name}",
                hint=f"there are {', '.join(known)}",
            )
    return tuple(word for word in known if word in words)
