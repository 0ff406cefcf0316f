"""Lookups in the probe's answers, for mechanisms of a whole system."""

from __future__ import annotations

from collections.abc import Sequence

from hardcost.errors import TrialError
from hardcost.protocol.answers import (
    Answer,
    ContentAnswer,
    CountedAnswer,
    RanAnswer,
    answer_named,
    find,
)

_MOST_DIGITS = 15  # of a number that is still exact as a float


def text(answers: Sequence[Answer], name: str) -> str | None:
    """Return the content of the file that was asked for as `name`; None if it is missing.

    Raises:
        TrialError: The guest did not answer.
    """
    found = answer_named(answers, ContentAnswer, name).text
    return None if found is None else found.strip()


def output(answers: Sequence[Answer], name: str) -> str:
    """Return the output of the program `name`.

    Raises:
        TrialError: The guest did not answer.
    """
    return answer_named(answers, RanAnswer, name).stdout


def has_run(answers: Sequence[Answer], name: str) -> bool:
    """Say whether the program `name` ran."""
    return find(answers, RanAnswer, name) is not None


def words(answers: Sequence[Answer], name: str) -> dict[str, str]:
    """Return the values that the program `name` printed as lines `NAME VALUE`.

    Raises:
        TrialError: The guest did not answer.
    """
    pairs = (line.rpartition(" ") for line in output(answers, name).splitlines())
    return {key.strip(): value for key, _, value in pairs if key.strip()}


def numbers(answers: Sequence[Answer], name: str) -> dict[str, int]:
    """Return the numbers that the program `name` printed as lines `NAME NUMBER`, and no others.

    Raises:
        TrialError: The guest did not answer.
    """
    found = words(answers, name)
    return {key: int(value) for key, value in found.items() if is_number(value)}


def counted_answer(answers: Sequence[Answer], name: str) -> CountedAnswer | None:
    """Return the count `name`; None if nothing was counted."""
    return find(answers, CountedAnswer, name)


def number(answers: Sequence[Answer], name: str, what: str) -> int:
    """Return one of the numbers that were counted as `name`.

    Raises:
        TrialError: The guest did not count it.
    """
    numbers = answer_named(answers, CountedAnswer, name).numbers
    if what not in numbers:
        raise TrialError(f"the guest's '{name}' did not say how many '{what}'")
    return numbers[what]


def is_number(text: str) -> bool:
    """Say whether a text is a whole number that we can count with."""
    return text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS
