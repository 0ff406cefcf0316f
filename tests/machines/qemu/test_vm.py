"""An exact answer is one that two executions gave."""

import asyncio
from collections.abc import Sequence

import pytest

from hardcost.errors import TrialError
from hardcost.machines.machine import Execution
from hardcost.machines.qemu.vm import agreed


def settle(counts: Sequence[int]) -> tuple[int, float]:
    """Return the count that is agreed on where executions give `counts`, and the host's seconds."""
    coming = iter(counts)

    async def once() -> Execution:
        answer = {"event": "call", "samples": [next(coming)]}
        return Execution((answer,), "", start_seconds=0.1, host_seconds=1.0)

    found = asyncio.run(agreed(once))
    return found.answers[0]["samples"][0], found.host_seconds


def test_two_executions_that_agree_are_enough() -> None:
    assert settle([502, 502, 999]) == (502, 2.0)


def test_one_that_differs_is_outvoted() -> None:
    assert settle([510, 502, 502, 999]) == (502, 3.0)
    assert settle([502, 510, 502, 999]) == (502, 3.0)


def test_where_none_agree_there_is_no_number() -> None:
    with pytest.raises(TrialError, match="all gave other counts"):
        settle(range(100))
