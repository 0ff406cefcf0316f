"""SELinux's mode is switched on a machine that runs SELinux; all else takes a boot."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from hardcost.errors import InputError
from hardcost.machines.real.facts import HostFacts
from hardcost.machines.real.selinux import change, without_boot
from hardcost.mechanisms.lsm import SECURITY_MODULE, Lsm, LsmMode
from hardcost.protocol.boot import Boot
from tests.machines.real.stand_ins import this_host

FACTS = HostFacts("m", "b", "6.1", "n", "l", "p", (0,), "tsc", "", False, False, False)  # noqa: FBT003  (a value)
ENFORCING = replace(FACTS, modules=("lockdown", "yama", "selinux", "bpf"), enforce="1")
APPARMOR = replace(FACTS, modules=("lockdown", "yama", "apparmor"))


def words(mode: LsmMode) -> tuple[str, ...]:
    return SECURITY_MODULE.boot_parameters((Lsm(mode),))


@pytest.mark.parametrize(("mode", "value"), [("permissive", "0"), ("enforcing", "1")])
def test_the_mode_takes_no_boot_where_selinux_runs(mode: LsmMode, value: str) -> None:
    assert without_boot(words(mode), ENFORCING) == (value, ())
    assert without_boot((*words(mode), "audit=0"), ENFORCING) == (value, ("audit=0",))
    assert without_boot(words(mode), APPARMOR) == (None, words(mode))


@pytest.mark.parametrize("mode", ["none", "apparmor"])
def test_another_module_takes_a_boot(mode: LsmMode) -> None:
    assert without_boot(words(mode), ENFORCING) == (None, words(mode))


def test_only_another_mode_is_written() -> None:
    assert change("1", ENFORCING) == change(None, ENFORCING) == ()
    (write,) = change("0", ENFORCING)
    assert (write.path, write.value) == ("/sys/fs/selinux/enforce", "0")


def test_both_modes_have_identities_of_their_own() -> None:
    machine = replace(this_host(), facts=ENFORCING)
    boots = [Boot(), Boot(parameters=words("permissive")), Boot(parameters=words("enforcing"))]
    identities = [machine.identity(boot) for boot in boots]
    assert all(one not in identities[:number] for number, one in enumerate(identities))


def test_a_mode_takes_a_reboot_where_there_is_no_selinux_which_our_own_host_is_spared() -> None:
    machine = replace(this_host(), facts=APPARMOR)
    with pytest.raises(InputError, match=r"host is not rebooted for .*: hardcost runs on"):
        machine.notes(Boot(parameters=words("permissive")))
    assert asyncio.run(machine.account(Boot())) is not None
