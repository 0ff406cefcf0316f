"""Lookups in the probe's answers, for mechanisms of a whole system."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hardcost.errors import TrialError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def named(answers: Sequence[Mapping[str, Any]], event: str, name: str) -> Mapping[str, Any]:
    """Return the answer `event` that goes by `name`.

    Raises:
        TrialError: There is none.
    """
    for answer in answers:
        if answer.get("event") == event and answer.get("name") == name:
            return answer
    raise TrialError(f"the guest did not answer to '{name}'")


def text(answers: Sequence[Mapping[str, Any]], name: str) -> str | None:
    """Return what a file holds that was asked for as `name`; None if it is not there.

    Raises:
        TrialError: The guest did not answer.
    """
    found = named(answers, "content", name)["text"]
    return None if found is None else str(found).strip()


def output(answers: Sequence[Mapping[str, Any]], name: str) -> str:
    """Return what the program `name` printed.

    Raises:
        TrialError: The guest did not answer.
    """
    return str(named(answers, "ran", name)["stdout"])


def numbers(answers: Sequence[Mapping[str, Any]], name: str) -> dict[str, str]:
    """Return the values that the program `name` printed as lines `NAME VALUE`.

    Raises:
        TrialError: The guest did not answer.
    """
    pairs = (line.rpartition(" ") for line in output(answers, name).splitlines())
    return {key.strip(): value for key, _, value in pairs if key.strip()}
