"""What all recorders say of a watch: when programs ran in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.instruments.observed import Step
from hardcost.protocol.answers import RanAnswer, StartedAnswer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.protocol.answers import Answer


def steps(answers: Sequence[Answer]) -> tuple[Step, ...]:
    """Return when programs ran and services started while it was watched, in their order."""
    return tuple(
        Step(
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
