"""What the keeper says while it changes a machine and undoes that: a type for each thing.

The keeper (`crates/keeper`) does its work in the probe's words, so that a control is verified in
the same answers wherever it was applied.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from hardcost.errors import TrialError
from hardcost.protocol.answers import AuditAnswer, MadeAnswer, WrittenAnswer
from hardcost.protocol.types import U64, Part

CHANGES = frozenset({"make", "write", "audit"})
"""The probe's requests that the keeper carries out in its place, so that they can be undone."""

_SHOWN = 80  # characters of a line that can't be read


class JournalSaid(Part):
    """A line of the journal: it is on the machine's disk."""

    event: Literal["journal"]
    line: str


class PlannedSaid(Part):
    """All that is going to be changed is in the journal; it goes on when it hears of us."""

    event: Literal["planned"]


class RestoredSaid(Part):
    """What an interrupted run left was undone."""

    event: Literal["restored"]
    changes: U64


class HeldSaid(Part):
    """All is changed."""

    event: Literal["held"]


class ReleasedSaid(Part):
    """All is undone, but for what the problems name."""

    event: Literal["released"]
    problems: tuple[str, ...]


class UnfitSaid(Part):
    """The machine is not to be changed at all; nothing was."""

    event: Literal["unfit"]
    message: str


class RefusedSaid(Part):
    """The change is not to be made; nothing was changed."""

    event: Literal["refused"]
    message: str


class FailedSaid(Part):
    """A change failed; those before it are undone."""

    event: Literal["failed"]
    message: str


Done = MadeAnswer | WrittenAnswer | AuditAnswer
"""What was done, in the probe's words."""

Said = (
    JournalSaid
    | PlannedSaid
    | RestoredSaid
    | HeldSaid
    | ReleasedSaid
    | UnfitSaid
    | RefusedSaid
    | FailedSaid
    | Done
)
_SAID: TypeAdapter[Said] = TypeAdapter(Annotated[Said, Field(discriminator="event")])


def read(line: bytes) -> Said:
    """Return what a line says.

    Raises:
        TrialError: It says nothing that a keeper does.
    """
    try:
        return _SAID.validate_json(line)
    except ValidationError:
        raise TrialError(f"the keeper wrote what is no answer: {line[:_SHOWN]!r}") from None
