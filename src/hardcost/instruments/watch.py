"""The part of a watch that all recorders report: when programs ran in it."""

from __future__ import annotations

from collections.abc import Sequence

from hardcost.model.observation import WatchStep
from hardcost.protocol.answers import Answer, RanAnswer, StartedAnswer


def steps(answers: Sequence[Answer]) -> tuple[WatchStep, ...]:
    """Return when programs ran and services started while it was watched, in their order."""
    return tuple(
        WatchStep(
            name=answer.name,
            begin=answer.begin,
            end=answer.end,
            is_measured=isinstance(answer, RanAnswer) and answer.ticks is not None,
        )
        for answer in answers
        if isinstance(answer, RanAnswer | StartedAnswer)
        and answer.begin is not None
        and answer.end is not None
    )
