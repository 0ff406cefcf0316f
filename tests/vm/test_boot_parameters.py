"""A boot parameter that the guest's kernel does not take is refused, whoever made the kernel."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from hardcost.machines.vm.argv import Hardware
from hardcost.machines.vm.machine import VirtualMachine
from hardcost.protocol.boot import Boot
from hardcost.supply.cache.cache import Cache
from tests.vm.conftest import Command

pytestmark = pytest.mark.vm

NULL = ("--workload", "syscalls calls=null")


@pytest.mark.slow
def test_a_misspelt_parameter_is_no_free_control(hardcost: Command) -> None:
    profile = """title = "t"
boot = [
    "init_on_alloc=1",
    "mitigatons=off",
    "spectre_v2=onn",
    "mds=ful",
    "page_alloc.shufle=1",
]
"""
    outcome = hardcost("bill", hardcost.write("my.toml", profile), *NULL, "--all", status=3)
    for said in (
        "mitigatons=off (my.toml:4) is not measured: ",
        "boot parameter 'mitigatons=off': the guest's kernel does not know mitigatons",
        "did you mean mitigations?",
        "spectre_v2=onn (my.toml:5) is not measured: ",
        "boot parameter 'spectre_v2=onn': the guest's kernel says: Spectre V2 : unknown",
        "(my.toml:6) is not measured: boot parameter 'mds=ful'",
        "did you mean mds=full?",
        "(my.toml:7) is not measured: boot parameter 'page_alloc.shufle=1'",
        "did you mean page_alloc.shuffle?",
    ):
        assert said in outcome.err
    assert "my.toml:3" not in outcome.err
    assert "4 controls not measured" in outcome.out
    assert "init_on_alloc=1  [my.toml:3]; default of the distribution" in outcome.out


@pytest.mark.slow
def test_of_a_study_the_trial_fails_and_the_others_are_measured(hardcost: Command) -> None:
    study = """title = "t"
workloads = ["syscalls calls=null"]
baseline = "a"
[[configuration]]
name = "a"
[[configuration]]
name = "b"
boot = ["mitigatons=off"]
"""
    outcome = hardcost("run", hardcost.write("s.toml", study), "--format", "json", status=3)
    assert set(outcome.values("null")) == {"a"}
    (failure,) = outcome.data()["failures"]
    assert "does not know mitigatons" in failure["reason"]
    assert failure["hint"] == "did you mean mitigations?"


@pytest.mark.slow
@pytest.mark.lengthy
def test_a_mitigation_says_what_it_changed_and_what_is_not_counted(hardcost: Command) -> None:
    profile = hardcost.write("my.toml", 'title = "t"\nboot = ["mitigations=off", "quiet"]\n')
    found = hardcost("bill", profile, *NULL, "--format", "json").data()
    items = found["items"]
    (off,) = [item for item in items if item["control"] == "mitigations=off"]
    assert "a lower bound" in off["caveat"]
    assert "it changes only spectre_v1 from 'Mitigation" in off["caveat"]
    assert any("not affected by" in note for note in found["notes"])
    assert "caveat" not in next(item for item in items if item["control"] == "quiet")


@pytest.mark.slow
@pytest.mark.lengthy
def test_a_placebo_costs_its_place_in_the_line_alone(hardcost: Command) -> None:
    profile = hardcost.write("my.toml", 'title = "t"\nboot = ["hardcost.placebo=1"]\n')
    (item,) = hardcost("bill", profile, *NULL, "--format", "json").data()["items"]
    assert (item["cost"], item["control"]) == (0, "hardcost.placebo=1")


@pytest.mark.slow
def test_asking_changes_no_count(cache_root: Path) -> None:
    """What is asked about is asked in a guest of its own: the trial's boot is as it was."""
    machine = VirtualMachine(Cache(cache_root), Hardware("icount"))
    boot = Boot(("quiet",))
    before = machine.identity(boot)
    account = asyncio.run(machine.account(boot))
    assert account is not None
    assert (account.verdicts, machine.identity(boot)) == ((), before)
    assert dict(account.faults)["meltdown"] == "Not affected"


def test_a_bill_of_an_emulators_times_is_refused(hardcost: Command) -> None:
    checks = {one["name"]: one for one in hardcost("doctor", "--format", "json").data()}
    if checks["instrument time (KVM)"]["ok"]:
        pytest.skip("KVM works here")
    rules = hardcost.write("my.rules", "-a always,exit -F arch=b64 -S swapon -F uid=70001\n")
    outcome = hardcost("bill", rules, *NULL, "--instrument", "time", status=3)
    assert "times can't be itemised here: KVM is not usable" in outcome.err
    assert "--force-emulated-time" in outcome.err
