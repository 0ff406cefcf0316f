"""A machine for tests that is there already: it computes times, and hardcost does not boot it.

An instruction of the fake guest's takes a quarter of a nanosecond. Each trial is off by up to one
per cent, the same in each execution of the program.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from hardcost.machines import fakeguest
from hardcost.machines.fake import FakeMachine, check
from hardcost.machines.machine import Capabilities
from hardcost.protocol.answers import CallAnswer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.machines.machine import Boot
    from hardcost.machines.progress import Listener
    from hardcost.machines.wanted import Wanted
    from hardcost.protocol.answers import Answer
    from hardcost.protocol.requests import Request

__all__ = ["check", "make"]

_NANOSECONDS = 0.25
_NOISE = 0.01
_CAPABILITIES = Capabilities(
    instruments=frozenset({"time"}),
    guests=frozenset({"small"}),
    inits=frozenset({"probe"}),
    parameters=False,
    kernels=False,
    layouts=False,
    fresh=False,
    at_once=1,
)


async def make(wanted: Wanted, listener: Listener) -> FakeMachine:  # noqa: ARG001  (any maker's)
    """Return the machine, with noise of its own."""
    noise = random.Random(1)  # noqa: S311  (noise for tests)

    def answers(boot: Boot, job: Sequence[Request]) -> list[Answer]:
        factor = _NANOSECONDS * (1 + noise.uniform(-_NOISE, _NOISE))
        return [_timed(one, factor) for one in fakeguest.answers(boot, job)]

    remarks = ("these numbers are computed by a machine for tests: they measure nothing",)
    machine = FakeMachine(answers, remarks=remarks, capabilities=_CAPABILITIES)
    machine.name = "fakehost"
    return machine


def _timed(answer: Answer, factor: float) -> Answer:
    if not isinstance(answer, CallAnswer):
        return answer
    samples = tuple(round(ticks * factor) for ticks in answer.samples)
    return answer.model_copy(update={"samples": samples})
