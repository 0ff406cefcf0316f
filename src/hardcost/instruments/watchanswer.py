"""The probe's answers to a watch, read for the instruments that ride along."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, NonNegativeInt, PositiveInt, ValidationError

from hardcost.errors import TrialError
from hardcost.instruments.observed import Step

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class Cpu(_Part):
    """What the processes of each name had of the processor, in nanoseconds, in all and by row.

    `split` of it is of processes that ended, and known for those of a row together alone.
    """

    processors: PositiveInt
    processes: dict[str, NonNegativeInt]
    idle: NonNegativeInt
    series: dict[str, tuple[NonNegativeInt, ...]]
    user: tuple[NonNegativeInt, ...]
    system: tuple[NonNegativeInt, ...]
    split: NonNegativeInt = 0
    exact: bool


class Audit(_Part):
    """What became of the kernel's queue of audit records, in all and by row."""

    lost: NonNegativeInt
    backlog_peak: NonNegativeInt
    lost_series: tuple[NonNegativeInt, ...]
    backlog_series: tuple[NonNegativeInt, ...]


class Avc(_Part):
    """The statistics of SELinux's cache of decisions, in all and by row."""

    totals: dict[str, NonNegativeInt]
    series: dict[str, tuple[NonNegativeInt, ...]]


class Watched(_Part):
    """What a watch saw. `times` are the ends of its rows, in ticks; `own` is in nanoseconds.

    A part is None where it was not asked for, or the guest has no such thing.
    """

    period: PositiveInt
    ticks: PositiveInt
    nanoseconds: PositiveInt
    times: tuple[NonNegativeInt, ...]
    own: NonNegativeInt
    cpu: Cpu | None
    audit: Audit | None
    avc: Avc | None

    @property
    def rate(self) -> float:
        """Ticks of the watch's clock in a nanosecond of the guest's."""
        return self.ticks / self.nanoseconds

    @property
    def own_ticks(self) -> float:
        """What the watching itself had of the processor, in ticks."""
        return self.own * self.rate


def watched(answers: Sequence[Mapping[str, Any]]) -> Watched:
    """Return what the watch among the answers saw.

    Raises:
        TrialError: There was no watch, or its answer makes no sense.
    """
    for answer in answers:
        if answer.get("event") == "watched":
            try:
                return Watched.model_validate(answer)
            except ValidationError as error:
                first = error.errors()[0]
                place = ".".join(map(str, first["loc"]))
                raise TrialError(
                    f"the guest's watch makes no sense: {place}: {first['msg']}"
                ) from None
    raise TrialError("the guest did not tell what was watched")


def steps(answers: Sequence[Mapping[str, Any]]) -> tuple[Step, ...]:
    """Return when programs ran and services started while it was watched, in their order."""
    return tuple(
        Step(
            name=str(answer.get("name")),
            begin=answer["begin"],
            end=answer["end"],
            is_measured=answer.get("event") == "ran" and answer.get("ticks") is not None,
        )
        for answer in answers
        if answer.get("event") in {"ran", "started"}
        and isinstance(answer.get("begin"), int)
        and isinstance(answer.get("end"), int)
    )
