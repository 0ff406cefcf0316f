"""A run's machine stays the same."""

import asyncio
from pathlib import Path

import pytest

from hardcost.errors import MachineError
from hardcost.machines.vm import snapshot
from hardcost.machines.vm.argv import Hardware
from hardcost.machines.vm.boot_kernel import BootKernel
from hardcost.machines.vm.content import initramfs
from hardcost.machines.vm.machine import VirtualMachine
from hardcost.protocol.boot import Boot, KernelRecipe
from hardcost.supply.cache.cache import Cache


def test_a_probe_that_is_built_anew_is_for_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    probe = tmp_path / "probe"
    monkeypatch.setattr(initramfs, "program_path", lambda _name: probe)
    boot = Boot(guest="debian", kernel=KernelRecipe())
    cache = Cache(tmp_path / "cache")
    probe.write_bytes(b"old")
    machine = VirtualMachine(cache, Hardware("icount"))
    before = machine._initramfs(boot)
    probe.write_bytes(b"new")
    assert machine._initramfs(boot) == before
    assert VirtualMachine(cache, Hardware("icount"))._initramfs(boot) != before


def test_each_kernel_has_an_initramfs_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Debian guest's has the modules of its kernel."""
    kernels = {
        name: BootKernel(tmp_path / name, digest=name, release="6.1") for name in ("one", "two")
    }
    machine = VirtualMachine(Cache(tmp_path), Hardware("icount"))
    monkeypatch.setattr(machine, "_kernel", lambda boot: kernels[boot.shipped or ""])

    def made(_cache: Cache, guest: str, kernel: BootKernel, _release: str | None) -> Path:
        path = tmp_path / f"{guest}-{kernel.digest}"
        path.touch()
        return path

    monkeypatch.setattr(initramfs, "initramfs", made)
    found = [machine._initramfs(Boot(guest="debian", shipped=name)).name for name in kernels]
    assert found == ["debian-one", "debian-two"]


def test_a_snapshot_is_listed_without_the_words_of_a_placebo() -> None:
    words = ("hardcost.placebo=xxxxxxxxxxxx", "quiet", "hardcost.placebo=xxxx")
    shown = snapshot.title("6.1", Hardware("icount", "max"), Boot(words))
    assert shown == "snapshot: 6.1, icount, cpu max, fixed layout, quiet, placebo"


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
