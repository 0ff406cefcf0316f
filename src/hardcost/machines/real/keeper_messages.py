"""The keeper's messages while it changes a machine and undoes that: a type for each.

The keeper (`crates/keeper`) does its work in the probe's words, so that a control is verified in
the same answers wherever it was applied.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

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
from hardcost.protocol.requests import Audit, Install, Make, Mount, Request, Write
from hardcost.protocol.types import U64, MessagePart, Sent

CHANGES = frozenset({"make", "write", "audit", "mount", "unit"})
"""Requests that the keeper carries out, so that they can be undone."""


class UnitState(Sent):
    """Start a unit of systemd, with the configuration that it has then, or stop it.

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


WantedState = Make | Write | Audit | Install | Replace | Mount | UnitState
"""The requests that a keeper can carry out."""


def wanted_states(job: Sequence[Request]) -> tuple[WantedState, ...]:
    """Return the requests of a job that a keeper carries out, in their order."""
    return tuple(each for one in job for each in _each(one))


def _each(request: Request) -> tuple[WantedState, ...]:
    match request:
        case Make() | Write() | Audit() | Mount():
            return (request,)
        case requests.SystemdUnit():
            files = (Replace(path=path, base64=text) for path, text in request.files.items())
            return (*files, UnitState(name=request.name, active=request.active))
        case _:
            return ()


_SHOWN = 80  # characters of a line that can't be read


class JournalSaid(MessagePart):
    """A line of the journal: it is on the machine's disk."""

    event: Literal["journal"]
    line: str


class PlannedSaid(MessagePart):
    """All that is going to be changed is in the journal; it goes on when it hears of us."""

    event: Literal["planned"]


class RestoredSaid(MessagePart):
    """What an interrupted run left was undone, but for what others have changed since: `left`."""

    event: Literal["restored"]
    changes: U64
    left: tuple[str, ...] = ()


class HeldSaid(MessagePart):
    """All is changed."""

    event: Literal["held"]


class ReleasedSaid(MessagePart):
    """All is undone, but for what the problems name; `asked`: since we have asked for it.

    `left` names what others have changed since, and so stays as it is.
    """

    event: Literal["released"]
    asked: bool
    problems: tuple[str, ...]
    left: tuple[str, ...] = ()


class RebootingSaid(MessagePart):
    """The machine goes down, and comes up with what was asked for, or with its own boot."""

    event: Literal["rebooting"]


class WhereSaid(MessagePart):
    """Which boot of which kernel runs; `token` names one that is not the machine's own."""

    event: Literal["where"]
    boot: str
    token: str | None
    release: str


class WordsSaid(MessagePart):
    """Lines of past boots in the machine's logs."""

    event: Literal["words"]
    text: str


class KeeperFailure(MessagePart):
    """Why the machine is not, or not wholly, changed."""

    message: str


class UnfitSaid(KeeperFailure):
    """The machine is not to be changed at all; nothing was."""

    event: Literal["unfit"]


class RefusedSaid(KeeperFailure):
    """The change is not to be made; nothing was changed."""

    event: Literal["refused"]


class FailedSaid(KeeperFailure):
    """A change failed; those before it are undone."""

    event: Literal["failed"]


class UnitAnswer(MessagePart):
    """`UnitState` is done."""

    event: Literal["unit"] = "unit"
    name: str
    state: str


Done = MadeAnswer | WrittenAnswer | AuditAnswer | InstalledAnswer | MountedAnswer | UnitAnswer
"""The change that was made, in the probe's words."""

KeeperMessage = (
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
_SAID: TypeAdapter[KeeperMessage] = TypeAdapter(
    Annotated[KeeperMessage, Field(discriminator="event")]
)


def read(line: bytes) -> KeeperMessage:
    """Return the message of a line.

    Raises:
        TrialError: It says nothing that a keeper does.
    """
    try:
        return _SAID.validate_json(line)
    except ValidationError:
        raise TrialError(f"the keeper wrote an invalid answer: {line[:_SHOWN]!r}") from None
