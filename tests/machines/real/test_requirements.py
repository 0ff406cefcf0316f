"""What makes a machine's times noisy, by what it says of itself."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from hardcost.machines.check import Check
from hardcost.machines.options import MachineOptions
from hardcost.machines.real.counters import OF_PROGRAMS, WHOLE
from hardcost.machines.real.facts import HostFacts
from hardcost.machines.real.requirements import examine, noise, try_out
from hardcost.supply.cache.cache import Cache
from tests.machines.real.stand_ins import this_host


def quiet() -> HostFacts:
    return replace(
        this_host().facts,
        cpus=(0, 1, 2, 3),
        clock="tsc",
        governor="performance",
        virtual=False,
        siblings=False,
        boost=False,
        counters=WHOLE,
        uncounted="",
    )


def wrong(checks: list[Check]) -> list[str]:
    return [check.name for check in checks if not check.ok]


def test_a_quiet_machine_has_nothing_to_mend() -> None:
    assert wrong(list(noise(quiet(), {"load": 0.1}))) == []


def test_each_source_of_noise_is_named_with_what_it_does_and_none_forbids_measuring() -> None:
    noisy = replace(
        quiet(),
        cpus=(0,),
        clock="acpi_pm",
        governor="powersave",
        virtual=True,
        siblings=True,
        counters=OF_PROGRAMS,
        uncounted="measure as root",
    )
    checks = list(noise(noisy, {"load": 3.0}))
    assert wrong(checks) == [
        "processors",
        "clock",
        "hypervisor",
        "hyper-threading",
        "frequency",
        "counters",
        "load",
    ]
    assert all(check.remedy and not check.needed for check in checks)


def test_this_host_can_be_looked_at(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    assert wrong(list(examine(cache, MachineOptions()))) == []
    first, *others = asyncio.run(try_out(cache, MachineOptions()))
    assert first.name == "host"
    assert first.ok
    (counters,) = (check for check in others if check.name == "counters")
    assert counters.ok == (counters.found == ", ".join(WHOLE))
    assert counters.ok or counters.remedy
