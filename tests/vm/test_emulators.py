"""A QEMU that is brought: Debian 13's counts what rules cost as this host's does, and is healed."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from hardcost.machines.vm.argv import Hardware
from hardcost.machines.vm.machine import VirtualMachine
from hardcost.protocol.boot import Boot
from hardcost.supply.cache.cache import Cache
from hardcost.supply.emulators import debian, names
from hardcost.supply.emulators.emulator import QEMU
from tests.studies import of_rules
from tests.vm.conftest import Command, bring_qemu

pytestmark = [pytest.mark.vm, pytest.mark.slow]

STUDY = of_rules("rules under another QEMU", "null+open", (0, 10, 50))
JSON = ("--format", "json")


@pytest.mark.lengthy
def test_rules_cost_under_debian_13_s_what_they_cost_under_this_hosts(hardcost: Command) -> None:
    qemu = bring_qemu(hardcost)
    study = hardcost.write("rules.toml", STUDY)
    hosts, brought, again = (
        hardcost("run", study, *JSON, "--qemu", one, *more)
        for one, *more in (("host",), (qemu,), (qemu, "--fresh"))
    )
    assert again.raw_cells() == brought.raw_cells()
    assert brought.data()["environment"]["qemu"].startswith("10.")
    for call in ("null", "open"):  # the processor is the same one under each
        assert hosts.values(call) == brought.values(call)
    by_folder = names.emulator_named(Cache(hardcost.cache), qemu, pytest.fail).root
    from_folder = hardcost("run", study, *JSON, "--qemu", str(by_folder))
    assert from_folder.raw_cells() == brought.raw_cells()
    counted = hardcost("hotspots", "audit-samples", "--workload", "syscalls calls=null", *JSON,
                       "--qemu", qemu)  # fmt: skip
    (found,) = counted.data()["hotspots"]
    assert sum(one["own_after"] - one["own_before"] for one in found["functions"]) == found["cost"]


def test_a_trial_under_another_qemu_has_another_identity(hardcost: Command) -> None:
    cache = Cache(hardcost.cache)
    emulator = names.emulator_named(cache, bring_qemu(hardcost), pytest.fail)
    hosts = VirtualMachine(cache, Hardware("icount"))
    brought = VirtualMachine(cache, Hardware("icount"), emulator=emulator)
    assert "emulator" not in hosts.identity(Boot())
    assert brought.identity(Boot())["emulator"] == emulator.identity
    assert hosts.kernel_identity() != brought.kernel_identity()
    assert hosts._name(Boot()) != brought._name(Boot())


@pytest.mark.lengthy
def test_a_kill_while_it_is_fetched_and_damage_are_healed(tmp_path: Path) -> None:
    command = Command(tmp_path, tmp_path / "cache")
    study = command.write("rules.toml", STUDY)
    words = ("run", study, "--dry-run", "--progress", "plain", "--qemu")
    process = command.start(*words, "debian:13")
    kept = command.cache / "emulators"
    while process.poll() is None and not list(kept.glob(".*/whole/usr")):
        time.sleep(0.05)
    if process.poll() is None:
        process.kill()
        assert command.end(process).status == -signal.SIGKILL
        assert not [one for one in kept.iterdir() if not one.name.startswith(".")]
    qemu = bring_qemu(command)
    assert "fetching QEMU" not in command(*words, qemu).err
    (entry,) = kept.iterdir()
    program = next(entry.glob(f"files/usr/bin/{QEMU}"))
    os.truncate(program, 1 << 20)
    healed = command(*words, qemu)
    assert "is made again" in healed.err
    assert "fetching QEMU" in healed.err
    assert "fetching QEMU" not in command(*words, qemu).err
    listed = command("image", "list", *JSON).data()
    (shown,) = (one for one in listed if one["kind"] == "emulators")
    assert shown["title"] == debian.debian_qemu(qemu.removeprefix("debian:")).title
    assert "removed emulators" in command("image", "remove", shown["name"]).out
    assert not list(kept.iterdir())


def test_a_full_disk_is_named_and_nothing_is_kept(tmp_path: Path) -> None:
    command = Command(tmp_path, tmp_path / "cache")
    kept = command.cache / "emulators"
    kept.mkdir(parents=True)
    mount = f"mount -t tmpfs -o size=60m none {kept}"
    under = ("unshare", "-m", "sh", "-c", f'{mount} && exec "$@"', "sh")
    if subprocess.run([*under, "true"], capture_output=True, check=False).returncode:
        pytest.skip("only root can mount a small disk")
    study = command.write("rules.toml", STUDY)
    words = ("run", study, "--dry-run", "--qemu", "debian:13")
    outcome = command.end(command.start(*words, under=under))
    assert outcome.status == 3
    assert f"no space left on the disk of {kept}" in outcome.err
    assert "hint: free some" in outcome.err
