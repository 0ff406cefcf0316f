"""The calls of permissions that the guest's auditctl adds to a rule, held to what it lists."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditrules.auditctl.translate import Target, translate
from auditrules.auditctl.write import listing
from auditrules.model.rule import Rule
from auditrules.tables.lookup import auditctl_of
from conformance.battery import WantedRules, run_battery
from hardcost.machines.vm.argv import Hardware
from hardcost.machines.vm.machine import VirtualMachine
from hardcost.supply.cache.cache import Cache
from hardcost.supply.packages.debian import version

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
    wanted = WantedRules("".join(f"{line}\n" for line in LINES), calls=(), listed=True)
    (result,) = run_battery(machine, [wanted]).sets
    assert result.refused == frozenset(), result.complaints
    assert (result.listing or "").splitlines() == list(listing(rules))
