"""The probe's answers, read as the hostile bytes that they are until parsed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hardcost.errors import TrialError

if TYPE_CHECKING:
    from pathlib import Path

    from hardcost.machines.machine import Answer

PROTOCOL = 1
_SHOWN = 80  # characters of a line that can't be read which an error repeats


def read(*places: Path) -> tuple[Answer, ...]:
    """Return the answers from `hello` to `end`, without `end`.

    The guest writes to one of `places`, as its kernel lets it; the first that is not empty counts.

    Raises:
        TrialError: A line is no answer, the probe reports an error, or the end is missing.
    """
    answers: list[Answer] = []
    written = next((place for place in places if place.stat().st_size), places[0])
    for line in written.read_bytes().splitlines():
        answer = _parsed(line)
        match answer["event"]:
            case "ready":
                continue
            case "error":
                raise TrialError(
                    f"the guest reports: {answer.get('message')}", console=_logs(answer)
                )
            case "end":
                return _checked(answers)
        answers.append(answer)
    raise TrialError("the guest ended before its job was done")


def _logs(error: Answer) -> str:
    """Return the ends of the logs that come with an error, each below its name."""
    logs = error.get("logs")
    if not isinstance(logs, dict):
        return ""
    return "".join(f"== {name}\n{str(text).rstrip()}\n" for name, text in logs.items() if text)


def _parsed(line: bytes) -> Answer:
    try:
        answer = json.loads(line, parse_constant=_no_number)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict) or not isinstance(answer.get("event"), str):
        raise TrialError(f"the guest answered what is no answer: {line[:_SHOWN]!r}")
    return answer


def _no_number(word: str) -> float:
    """Refuse NaN and infinity, which JSON doesn't have and Python's reader lets through."""
    raise ValueError(word)


def _checked(answers: list[Answer]) -> tuple[Answer, ...]:
    if not answers or answers[0]["event"] != "hello":
        raise TrialError("the guest did not say hello")
    if answers[0].get("protocol") != PROTOCOL:
        raise TrialError(
            f"the probe speaks protocol {answers[0].get('protocol')}, hardcost {PROTOCOL}",
            hint="`make setup` builds the probe that fits",
        )
    return tuple(answers)
