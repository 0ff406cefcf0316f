"""The calls of permissions that the guest's auditctl adds to a rule, held to what it lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.battery import Wanted, run_battery
from hardcost.auditrules.rule import Rule
from hardcost.auditrules.tables.lookup import auditctl_of
from hardcost.auditrules.translate import Target, translate
from hardcost.auditrules.write import listing
from hardcost.machines.cache import Cache
from hardcost.machines.debianpackages import version
from hardcost.machines.qemu.argv import Hardware
from hardcost.machines.qemu.vm import VirtualMachine

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.vm

LINES = (
    *(
        f"-a always,exit -F arch={arch} {calls}-F path=/etc/x -F perm={letters} -k {arch}{letters}"
        for arch in ("b64", "b32")
        for calls in ("", "-S mount ")
        for letters in ("r", "w", "x", "a", "wa", "rwxa")
    ),
    "-a always,exit -F arch=b64 -F path=/etc/y -F perm=w -F perm=x -k two",
    "-a always,exit -F arch=b64 -F perm=w -F path=/etc/y -S mount -k later",
    "-a always,exit -F path=/etc/y -F perm=x -F arch=b64 -k late",
    "-a always,exit -F path=/etc/y -F perm=x -S mount -k late",
    "-a always,exit -S mount -F path=/etc/y -F perm=x -k plain",
    "-a always,exit -F arch=b64 -S all -F path=/etc/y -F perm=x -k all",
    "-a always,exit -F path=/etc/y -F perm=x -k everywhere",
    "-w /etc/z -p wa -k watch",
    "-w /etc/y -S mount -F perm=x -k watch",
)


def test_auditctl_names_the_calls_that_the_reading_says(cache_root: Path) -> None:
    cache = Cache(cache_root)
    auditctl = auditctl_of(version(cache, "auditd"))
    target = Target(is_directory=lambda _: False, auditctl=auditctl)
    rules = [translate(Rule(line), target) for line in LINES]
    machine = VirtualMachine(cache, Hardware("tcg"))
    wanted = Wanted("".join(f"{line}\n" for line in LINES), calls=(), listed=True)
    (result,) = run_battery(machine, [wanted]).sets
    assert result.refused == frozenset(), result.complaints
    assert (result.listing or "").splitlines() == list(listing(rules))
