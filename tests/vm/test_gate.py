"""The gate on Debian's own rules for a STIG, with a regression planted: the same line and cost."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditrules.cost.constants import Constants
from bench.rules.sample_rules import sample_rules
from hardcost.calibration import kernel_constants
from hardcost.machines.vm.argv import Hardware
from hardcost.machines.vm.machine import VirtualMachine
from hardcost.protocol.boot import Boot
from hardcost.supply.cache.cache import Cache
from tests.vm.conftest import Command

pytestmark = pytest.mark.vm

DIR = "-a always,exit -F dir=/srv/data -F perm=wa -F key=data"
AT = 61
CALLS = ("--workload", "syscalls calls=null+open")


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    old = (sample_rules(Cache()) / "30-stig.rules").read_text().splitlines()
    texts = {
        "old": old,
        "dir": [*old[: AT - 1], DIR, *old[AT - 1 :]],
        "comments": ["# for the auditor", *old, "# the end"],
        "broken": [*old, "-a always,exit -F arch=b64 -S nosuch -k x"],
    }
    for name, lines in texts.items():
        (tmp_path / f"{name}.rules").write_text("\n".join(lines) + "\n")
    return {name: str(tmp_path / f"{name}.rules") for name in texts}


@pytest.mark.slow
def test_a_planted_directory_rule_costs_what_was_predicted(
    hardcost: Command, files: dict[str, str]
) -> None:
    words = ("gate", files["old"], files["dir"], "--max", "open<=0.1%", "--format", "json")
    measured = hardcost(*words, *CALLS, status=1)
    costs = {}
    for metric in measured.data()["metrics"]:
        (line,) = metric["lines"]
        assert (line["file"], line["line"], line["control"]) == (files["dir"], AT, DIR)
        assert metric["rest"] == 0
        assert metric["cost_after"] - metric["cost_before"] == metric["difference"]
        costs[metric["metric"]] = line["adds"]
    # auditctl 4 has the rule name the calls of its permissions, so that others only walk past it.
    assert costs["open"] >= 2 * costs["null"] > 0
    machine = VirtualMachine(Cache(), Hardware("icount"))
    if not kernel_constants.fits(Constants.of_debian(), machine.environment(Boot())):
        pytest.skip("the constants that come with hardcost are of another kernel")
    assert costs["open"] == 2 * costs["null"]
    predicted = hardcost(*words, "--predict", status=1)
    assert {
        one["metric"]: one["lines"][0]["adds"]
        for one in predicted.data()["metrics"]
        if one["metric"] in costs
    } == costs


def test_comments_cost_nothing_and_rules_that_cannot_be_loaded_end_with_status_2(
    hardcost: Command, files: dict[str, str]
) -> None:
    same = hardcost("gate", files["old"], files["comments"], "--max", "any<=0%", *CALLS)
    assert "Nothing grew (measured)" in same.out
    broken = hardcost("gate", files["old"], files["broken"], "--max", "any<=0%", status=2)
    assert "broken.rules:" in broken.err


def test_a_prediction_needs_the_constants_of_the_processor_that_is_asked_for(
    hardcost: Command, files: dict[str, str]
) -> None:
    words = ("gate", files["old"], files["dir"], "--predict", "--cpu", "Skylake-Client")
    refused = hardcost(*words, status=2)
    assert "there are no constants for kernel" in refused.err
    assert "rules cost --fit --cpu Skylake-Client FILE" in refused.err
