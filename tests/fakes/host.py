"""A machine for tests that is there already: it computes times, and hardcost does not boot it.

An instruction of the fake guest's takes a quarter of a nanosecond. Each trial is off by up to one
per cent, the same in each execution of the program.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from hardcost.machines.machine import Capabilities
from hardcost.machines.options import MachineOptions
from hardcost.protocol.answers import Answer, CallAnswer
from hardcost.protocol.boot import Boot
from hardcost.protocol.requests import Request
from hardcost.supply.progress import Listener
from tests.fakes import guest
from tests.fakes.machine import FakeMachine, check

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


async def make(wanted: MachineOptions, listener: Listener) -> FakeMachine:  # noqa: ARG001  (any maker's)
    """Return the machine, with noise of its own."""
    noise = random.Random(1)  # noqa: S311  (noise for tests)

    def answers(boot: Boot, job: Sequence[Request]) -> list[Answer]:
        factor = _NANOSECONDS * (1 + noise.uniform(-_NOISE, _NOISE))
        return [_timed(one, factor) for one in guest.answers(boot, job)]

    remarks = ("these numbers are computed by a machine for tests: they measure nothing",)
    machine = FakeMachine(answers, remarks=remarks, capabilities=_CAPABILITIES)
    machine.name = "fakehost"
    return machine


def _timed(answer: Answer, factor: float) -> Answer:
    if not isinstance(answer, CallAnswer):
        return answer
    samples = tuple(round(ticks * factor) for ticks in answer.samples)
    return answer.model_copy(update={"samples": samples})
