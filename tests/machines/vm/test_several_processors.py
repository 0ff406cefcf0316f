"""Which boots can't be measured on several processors, and which QEMU can."""

from __future__ import annotations

from pathlib import Path

import pytest

from hardcost.errors import InputError
from hardcost.machines.options import MachineOptions
from hardcost.machines.vm import several_processors
from hardcost.protocol.boot import Boot, KernelRecipe
from hardcost.supply.cache.cache import Cache
from hardcost.supply.emulators.emulator import HOST


@pytest.mark.parametrize(
    ("boot", "reason"),
    [
        (Boot(kernel=KernelRecipe()), "a kernel is built"),
        (Boot(guest="debian", init="systemd"), "systemd starts the system"),
        (Boot(fresh=True), "each trial is to boot"),
        (Boot(parameters=("lockdown=integrity",)), "lockdown=integrity keep the probe"),
    ],
)
def test_what_boots_for_each_trial_is_refused_with_the_reason(boot: Boot, reason: str) -> None:
    with pytest.raises(InputError, match=reason) as refused:
        several_processors.check([Boot(), boot])
    assert refused.value.problems[0].hint == "leave --processors out, or that"
    several_processors.check([Boot(), Boot(guest="debian", parameters=("mitigations=off",))])


@pytest.mark.parametrize(
    ("version", "can"), [("7.2.22", False), ("9.1.0", False), ("10.0.13", True), ("11.1", True)]
)
def test_a_qemu_that_is_named_has_to_be_able(tmp_path: Path, *, version: str, can: bool) -> None:
    program = tmp_path / "qemu-system-x86_64"
    program.write_text(f"#!/bin/sh\necho 'QEMU emulator version {version} (Debian 1:x)'\n")
    program.chmod(0o755)
    wanted = MachineOptions(processors=2, qemu=str(program))
    notes: list[str] = []
    if can:
        found = several_processors.emulator_for(Cache(tmp_path / "cache"), wanted, notes.append)
        assert found.identity
    else:
        with pytest.raises(InputError, match="can't count instructions on several") as refused:
            several_processors.emulator_for(Cache(tmp_path / "cache"), wanted, notes.append)
        assert "debian:13" in (refused.value.problems[0].hint or "")
    assert notes == []


def test_one_processor_takes_this_hosts_qemu(tmp_path: Path) -> None:
    found = several_processors.emulator_for(Cache(tmp_path), MachineOptions(), pytest.fail)
    assert found is HOST
