"""The probe's answers, read as the hostile bytes that they are until parsed."""

from __future__ import annotations

from pathlib import Path

from hardcost.errors import TrialError
from hardcost.protocol.answers import (
    Answer,
    EndAnswer,
    ErrorAnswer,
    HelloAnswer,
    ReadyAnswer,
    read_answer,
)

PROTOCOL = 1


def read(*places: Path) -> tuple[Answer, ...]:
    """Return the answers from `hello` to `end`, without `end`.

    The guest writes to one of `places`, as its kernel lets it; the first that is not empty counts.

    Raises:
        TrialError: A line is no answer, the probe reports an error, or the end is missing.
    """
    written = next((place for place in places if place.stat().st_size), places[0])
    return parse_answers(written.read_bytes())


def parse_answers(written: bytes) -> tuple[Answer, ...]:
    """Return the answers in a probe's output, from `hello` to `end`, without `end`.

    Raises:
        TrialError: As of `read`.
    """
    answers: list[Answer] = []
    for line in written.splitlines():
        answer = read_answer(line)
        match answer:
            case ReadyAnswer():
                continue
            case ErrorAnswer():
                raise TrialError(f"the machine reports: {answer.message}", console=_logs(answer))
            case EndAnswer():
                return _check_hello(answers)
            case _:
                answers.append(answer)
    raise TrialError("the machine ended before its job was done")


def _logs(error: ErrorAnswer) -> str:
    """Return the ends of the logs that come with an error, each below its name."""
    return "".join(f"== {name}\n{text.rstrip()}\n" for name, text in error.logs.items() if text)


def _check_hello(answers: list[Answer]) -> tuple[Answer, ...]:
    hello = answers[0] if answers else None
    if not isinstance(hello, HelloAnswer):
        raise TrialError("the machine did not say hello")
    if hello.protocol != PROTOCOL:
        raise TrialError(
            f"the probe speaks protocol {hello.protocol}, hardcost {PROTOCOL}",
            hint="`make setup` builds the probe that fits",
        )
    return tuple(answers)
