"""What the keeper says while it changes a machine and undoes that: a type for each thing.

The keeper (`crates/keeper`) does its work in the probe's words, so that a control is verified in
the same answers wherever it was applied.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from hardcost.errors import TrialError
from hardcost.protocol import requests
from hardcost.protocol.answers import (
    AuditAnswer,
    InstalledAnswer,
    MadeAnswer,
    MountedAnswer,
    WrittenAnswer,
)
from hardcost.protocol.requests import Audit, Install, Make, Mount, Write
from hardcost.protocol.types import U64, Part, Sent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.protocol.requests import Request

CHANGES = frozenset({"make", "write", "audit", "mount", "unit"})
"""Requests that the keeper carries out, so that they can be undone."""


class Unit(Sent):
    """Have a unit of systemd run, with the configuration that it has then, or have it stopped.

    The keeper alone knows it.
    """

    do: Literal["unit"] = "unit"
    name: str
    active: bool


class Replace(Sent):
    """Write a file; owner, group and mode stay, or of a new one are root's and 0644."""

    do: Literal["install"] = "install"
    path: str
    base64: str


Wanted = Make | Write | Audit | Install | Replace | Mount | Unit
"""What a keeper can do."""


def wanted(job: Sequence[Request]) -> tuple[Wanted, ...]:
    """Return what a keeper has to do of a job, in its order."""
    return tuple(each for one in job for each in _each(one))


def _each(request: Request) -> tuple[Wanted, ...]:
    match request:
        case Make() | Write() | Audit() | Mount():
            return (request,)
        case requests.Unit():
            files = (Replace(path=path, base64=text) for path, text in request.files.items())
            return (*files, Unit(name=request.name, active=request.active))
        case _:
            return ()


_SHOWN = 80  # characters of a line that can't be read


class JournalSaid(Part):
    """A line of the journal: it is on the machine's disk."""

    event: Literal["journal"]
    line: str


class PlannedSaid(Part):
    """All that is going to be changed is in the journal; it goes on when it hears of us."""

    event: Literal["planned"]


class RestoredSaid(Part):
    """What an interrupted run left was undone, but for what others have changed since: `left`."""

    event: Literal["restored"]
    changes: U64
    left: tuple[str, ...] = ()


class HeldSaid(Part):
    """All is changed."""

    event: Literal["held"]


class ReleasedSaid(Part):
    """All is undone, but for what the problems name; `asked`: since we have asked for it.

    `left` names what somebody else has changed since, and so stays as it is.
    """

    event: Literal["released"]
    asked: bool
    problems: tuple[str, ...]
    left: tuple[str, ...] = ()


class RebootingSaid(Part):
    """The machine goes down, and comes up with what was asked for, or with its own boot."""

    event: Literal["rebooting"]


class WhereSaid(Part):
    """Which boot of which kernel runs; `token` names one that is not the machine's own."""

    event: Literal["where"]
    boot: str
    token: str | None
    release: str


class WordsSaid(Part):
    """What boots that are over have left in the machine's logs."""

    event: Literal["words"]
    text: str


class Failure(Part):
    """Why the machine is not, or not wholly, changed."""

    message: str


class UnfitSaid(Failure):
    """The machine is not to be changed at all; nothing was."""

    event: Literal["unfit"]


class RefusedSaid(Failure):
    """The change is not to be made; nothing was changed."""

    event: Literal["refused"]


class FailedSaid(Failure):
    """A change failed; those before it are undone."""

    event: Literal["failed"]


class UnitAnswer(Part):
    """`Unit` is done."""

    event: Literal["unit"] = "unit"
    name: str
    state: str


Done = MadeAnswer | WrittenAnswer | AuditAnswer | InstalledAnswer | MountedAnswer | UnitAnswer
"""What was done, in the probe's words."""

Said = (
    JournalSaid
    | PlannedSaid
    | RestoredSaid
    | HeldSaid
    | ReleasedSaid
    | RebootingSaid
    | WhereSaid
    | WordsSaid
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
