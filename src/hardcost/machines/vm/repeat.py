"""How often a trial is executed, so that its counts are exact.

A guest whose processor is never idle gives the same counts each time, on any host under any load:
one execution is exact. The probe keeps the processor busy, and where calls are measured the
measured process does. A few trials are executed again all the same: if one differed, nothing could
be trusted.

A program of the user's may sleep, and then the emulator skips idle time. On a host that is far too
busy about one such execution in thirty has a few samples that differ by some instructions: as far
as we can see, QEMU's main loop then finds the processor halted before the instructions that it
executed last are counted, and skips idle time from a stale clock. Such a trial is executed until
two executions agree. Two that went wrong in the same way were never seen.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable, Sequence

from hardcost.errors import TrialError
from hardcost.machines.machine import Execution
from hardcost.protocol.answers import Answer, CallAnswer
from hardcost.protocol.requests import Command, Request

Once = Callable[[], Awaitable[Execution]]

_MOST_EXECUTIONS = 6  # where at most one in thirty differs, two soon agree
_CHECKED = 16  # one trial in so many is executed again


def may_idle(job: Sequence[Request]) -> bool:
    """Say whether the processor of a small guest may be idle while `job` is measured."""
    return any(isinstance(request, Command) for request in job)


class SpotChecks:
    """Executes trials once, and the first and every sixteenth of them again."""

    def __init__(self) -> None:
        self._trials = 0

    async def execute(self, once: Once) -> Execution:
        """Carry out a trial.

        Raises:
            TrialError: It was executed again, and gave other answers.
        """
        checks = self._trials % _CHECKED == 0
        self._trials += 1
        first = await once()
        if not checks:
            return first
        again = await once()
        if first.answers != again.answers:
            raise TrialError(
                f"two executions of the same trial differ: {difference(first, again)}",
                hint="the counts of this run can't be trusted: counts ought to repeat. Please"
                " report it, with what `hardcost doctor` prints",
            )
        return dataclasses.replace(again, host_seconds=first.host_seconds + again.host_seconds)


async def repeat_until_equal(once: Once) -> Execution:
    """Carry a job out until two executions gave the same answers, to the last sample.

    Raises:
        TrialError: No two of many executions agree.
    """
    seen: list[Execution] = []
    for _ in range(_MOST_EXECUTIONS):
        latest = await once()
        if any(earlier.answers == latest.answers for earlier in seen):
            seconds = latest.host_seconds + sum(earlier.host_seconds for earlier in seen)
            return dataclasses.replace(latest, host_seconds=seconds)
        seen.append(latest)
    raise TrialError(
        f"{_MOST_EXECUTIONS} executions of the same trial all gave other counts",
        hint="counts ought to repeat: make the workload independent of the host",
    )


async def with_and_without(plain: Once, watched: Once, *, idles: bool) -> Execution:
    """Carry a job out without the plugin and with it, and return the latter.

    The answers are the same, to the last sample. Where the processor may be idle (`idles`) they
    are those that two executions without it agree on, and one with it is tried several times.

    Raises:
        TrialError: The plugin changed them.
    """
    reference = await (repeat_until_equal(plain) if idles else plain())
    seconds = reference.host_seconds
    for _ in range(_MOST_EXECUTIONS if idles else 1):
        seen = await watched()
        seconds += seen.host_seconds
        if seen.answers == reference.answers:
            return dataclasses.replace(seen, host_seconds=seconds)
    raise TrialError(
        f"the plugin changed what it watched: {difference(reference, seen)}",
        hint="please report it, with what `hardcost doctor` prints",
    )


def difference(first: Execution, again: Execution) -> str:
    """Return the first thing in which two executions differ."""
    for one, other in zip(first.answers, again.answers, strict=False):
        if one != other:
            return _of_answers(one, other)
    return f"one gave {len(first.answers)} answers, the other {len(again.answers)}"


def _of_answers(one: Answer, other: Answer) -> str:
    if isinstance(one, CallAnswer) and isinstance(other, CallAnswer) and one.name == other.name:
        pairs = zip(one.samples, other.samples, strict=False)
        for number, (sample, same) in enumerate(pairs, start=1):
            if sample != same:
                return f"sample {number} of {one.name} is {sample:,} and {same:,}"
        return f"{one.name} has {len(one.samples)} and {len(other.samples)} samples"
    return f"answers of the kind {one.event!r} are not equal"
