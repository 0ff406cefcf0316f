"""Controls applied to a Debian guest around some work, for the tests of one control each."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hardcost.controls.control import Control
from hardcost.machines.vm.argv import Hardware
from hardcost.machines.vm.machine import VirtualMachine
from hardcost.mechanisms import apply
from hardcost.protocol import ask
from hardcost.protocol.answers import Answer, CountedAnswer, RanAnswer, answer_named
from hardcost.protocol.boot import Boot
from hardcost.protocol.requests import USER, Request, StartService
from hardcost.supply.cache.cache import Cache

LIMIT_SECONDS = 400  # of host time, for a job of seconds, on a host that is busy
FAST = Hardware("tcg")
EXACT = Hardware("icount")


@dataclass(frozen=True)
class Applied:
    """What a guest answered, and the controls that it was to apply."""

    controls: tuple[Control, ...]
    answers: tuple[Answer, ...]

    def notes(self) -> tuple[str, ...]:
        """Verify the controls; return what is said of them."""
        return apply.verify(self.controls, self.answers)

    def ran(self, name: str) -> RanAnswer:
        """Return how a program ended."""
        return answer_named(self.answers, RanAnswer, name)

    def counted(self, name: str) -> CountedAnswer:
        """Return what was counted as `name`."""
        return answer_named(self.answers, CountedAnswer, name)


def applied(
    cache_root: Path,
    controls: Sequence[Control],
    work: Sequence[Request] = (),
    *,
    before: Sequence[Request] = (),
    hardware: Hardware = FAST,
) -> Applied:
    """Carry out `work` under controls; `before` comes in front of all else."""
    job = [*before, *apply.requests(controls), *work, *apply.finish(controls)]
    return Applied(tuple(controls), carried_out(cache_root, controls, job, hardware))


def carried_out(
    cache_root: Path,
    controls: Sequence[Control],
    job: Sequence[Request],
    hardware: Hardware = FAST,
    limit_seconds: float = LIMIT_SECONDS,
) -> tuple[Answer, ...]:
    """Carry out a job in a guest that boots as the controls want it."""
    machine = VirtualMachine(Cache(cache_root), hardware)
    boot = Boot(apply.boot_parameters(controls), guest="debian")
    return asyncio.run(machine.execute(boot, job, limit_seconds)).answers


def before_start(work: Request, control: Control) -> list[Request]:
    """Return a control's requests, with another in front of the start of its first service."""
    asked = list(apply.requests([control]))
    first = next(place for place, one in enumerate(asked) if isinstance(one, StartService))
    return [*asked[:first], work, *asked[first:], *apply.finish([control])]


def shell(name: str, script: str, **more: Any) -> Request:  # noqa: ANN401  (of `ask.run`)
    """Return the request to run a script as the ordinary user, logged in."""
    return ask.run(name, ["sh", "-c", script], user="user", login=USER, **more)
