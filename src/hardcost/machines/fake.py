"""A machine that computes its answers: for tests of all that runs above machines."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from hardcost.machines.bootline import Account
from hardcost.machines.machine import Execution

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hardcost.machines.machine import Boot
    from hardcost.protocol.answers import Answer
    from hardcost.protocol.requests import Request


class FakeMachine:
    """A machine whose answers are what `answer` makes of a boot and a job.

    `answer` may raise what a real machine raises. `started` lists the boots in their order;
    `most_at_once` is the largest number of jobs that ran at one time. `account` makes what a kernel
    says of a boot; without it nothing is amiss. `asked` lists the boots that it was asked about.
    """

    name = "fake"

    def __init__(
        self,
        answer: Callable[[Boot, Sequence[Request]], Sequence[Answer]],
        account: Callable[[Boot], Account | None] = lambda _: Account(),
    ) -> None:
        """Keep the functions."""
        self._answer = answer
        self._account = account
        self.asked: list[Boot] = []
        self._running = 0
        self.started: list[Boot] = []
        self.most_at_once = 0

    def environment(self, boot: Boot) -> dict[str, str]:  # noqa: ARG002  (the interface's)
        """Return that it is a fake, in the places where reports look."""
        return {"qemu": "none", "kernel": "none", "cpu_model": "none", "host": "fake"}

    def identity(self, boot: Boot) -> dict[str, str]:
        """Return what tells its trials apart."""
        return {"machine": self.name, "boot": repr(boot)}

    def packages(self, boot: Boot) -> dict[str, str]:  # noqa: ARG002  (the interface's)
        """Return that there are none."""
        return {}

    def notes(self, boot: Boot) -> tuple[str, ...]:  # noqa: ARG002  (the interface's)
        """Return that there is nothing to know."""
        return ()

    async def account(self, boot: Boot) -> Account | None:
        """Return what the kernel says."""
        self.asked.append(boot)
        return self._account(boot)

    async def make_ready(self, boot: Boot) -> None:
        """Be ready."""

    async def execute(self, boot: Boot, job: Sequence[Request], limit_seconds: float) -> Execution:
        """Return the computed answers, within the time limit."""
        self.started.append(boot)
        self._running += 1
        self.most_at_once = max(self.most_at_once, self._running)
        try:
            async with asyncio.timeout(limit_seconds):
                await asyncio.sleep(0)
                return Execution(tuple(self._answer(boot, job)), "", 0.0, 0.0)
        finally:
            self._running -= 1
