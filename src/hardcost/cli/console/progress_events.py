"""The output of `--progress json` to stderr, as models: an object for each event, on a line."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from hardcost.measure.expected_time import StageEntry


class _Event(BaseModel):
    model_config = ConfigDict(frozen=True)


class NoteEvent(_Event):
    """A line for the user."""

    event: Literal["note"] = "note"
    text: str


class FailedEvent(_Event):
    """A trial, or a boot that trials need, has failed, and the run continues."""

    event: Literal["failed"] = "failed"
    reason: str
    configuration: str | None
    workload: str | None


class ExpectedEvent(_Event):
    """How long a run's stages are expected to take."""

    event: Literal["expected"] = "expected"
    stages: tuple[StageEntry, ...]


class StageEvent(_Event):
    """`total` pieces of work of one kind begin, and should take so many seconds."""

    event: Literal["stage"] = "stage"
    name: str
    total: int
    expected_seconds: float | None


class AdvanceEvent(_Event):
    """One more piece of a stage has ended."""

    event: Literal["advance"] = "advance"
    name: str
    done: int
    total: int


class StageEndEvent(_Event):
    """A stage has ended."""

    event: Literal["stage-end"] = "stage-end"
    name: str


class SetupEvent(_Event):
    """The progress of a long piece of a machine's set-up; nulls: it has ended."""

    event: Literal["setup"] = "setup"
    text: str | None
    seconds: float | None


class ErrorEvent(_Event):
    """A problem that ended the command; `console` is the end of the guest's."""

    event: Literal["error"] = "error"
    message: str
    place: str | None
    hint: str | None
    console: tuple[str, ...]


class InterruptedEvent(_Event):
    """The command was interrupted."""

    event: Literal["interrupted"] = "interrupted"
    text: str


AnyEvent = (
    NoteEvent
    | FailedEvent
    | ExpectedEvent
    | StageEvent
    | AdvanceEvent
    | StageEndEvent
    | SetupEvent
    | ErrorEvent
    | InterruptedEvent
)
"""Any event."""
