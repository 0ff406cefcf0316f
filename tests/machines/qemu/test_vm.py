"""An exact answer is one that two executions gave; a run's machine stays the same."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.protocol.said import typed

from hardcost.errors import MachineError, TrialError
from hardcost.machines.cache import Cache
from hardcost.machines.machine import Boot, Execution, KernelRecipe
from hardcost.machines.qemu import initramfs
from hardcost.machines.qemu.argv import Hardware
from hardcost.machines.qemu.vm import VirtualMachine, agreed
from hardcost.protocol.answers import CallAnswer, only


def settle(counts: Sequence[int]) -> tuple[int, float]:
    """Return the count that is agreed on where executions give `counts`, and the host's seconds."""
    coming = iter(counts)

    async def once() -> Execution:
        answer = {"event": "call", "name": "null", "samples": [next(coming)]}
        return Execution(tuple(typed([answer])), "", start_seconds=0.1, host_seconds=1.0)

    found = asyncio.run(agreed(once))
    return only(found.answers, CallAnswer).samples[0], found.host_seconds


def test_two_executions_that_agree_are_enough() -> None:
    assert settle([502, 502, 999]) == (502, 2.0)


def test_one_that_differs_is_outvoted() -> None:
    assert settle([510, 502, 502, 999]) == (502, 3.0)
    assert settle([502, 510, 502, 999]) == (502, 3.0)


def test_where_none_agree_there_is_no_number() -> None:
    with pytest.raises(TrialError, match="all gave other counts"):
        settle(range(100))


def test_a_probe_that_is_built_anew_is_for_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    probe = tmp_path / "probe"
    monkeypatch.setattr(initramfs, "built", lambda _name: probe)
    boot = Boot(guest="debian", kernel=KernelRecipe())
    cache = Cache(tmp_path / "cache")
    probe.write_bytes(b"old")
    machine = VirtualMachine(cache, Hardware("icount"))
    before = machine._initramfs(boot)
    probe.write_bytes(b"new")
    assert machine._initramfs(boot) == before
    assert VirtualMachine(cache, Hardware("icount"))._initramfs(boot) != before


def test_a_machine_serves_one_event_loop_after_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = VirtualMachine(Cache(tmp_path), Hardware("icount"))
    monkeypatch.setattr(machine, "_name", lambda _boot: "snapshot")

    async def taken(_boot: Boot, _name: str) -> None:
        await asyncio.sleep(0.01)  # so that the others have to wait

    monkeypatch.setattr(machine, "_take", taken)

    async def together() -> list[BaseException | Path]:
        return await asyncio.gather(
            *(machine._snapshot(Boot()) for _ in range(3)), return_exceptions=True
        )

    for _ in range(2):
        assert {type(one) for one in asyncio.run(together())} == {MachineError}
