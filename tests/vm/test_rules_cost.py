"""The cost model against a real kernel, by the exact instrument."""

from __future__ import annotations

import asyncio
import statistics

import pytest

from auditrules.auditctl.translate import Target, translate
from auditrules.cost.constants import Constants
from auditrules.kernel.semantics import load
from auditrules.model.rule import Rule
from hardcost.calibration import check, kernel_constants, rule_set_costs
from hardcost.calibration.rule_set_costs import Often, RuleSetRequest, Watched
from hardcost.machines.vm.argv import Hardware
from hardcost.machines.vm.machine import VirtualMachine
from hardcost.protocol.boot import Boot
from hardcost.supply.cache.cache import Cache
from tests.vm.conftest import Command

pytestmark = [pytest.mark.vm, pytest.mark.slow]

LIMIT_SECONDS = 240.0
CALLS = ("null", "open", "creat", "rename", "signal", "chmod")
KINDS = ("w", "a", "r", "x")  # auditctl 4 narrows such rules to the calls of the permission
LINES = (
    "-a always,exit -F arch=b32 -S execve -C uid!=euid -F euid=0 -k priv",
    "-a always,exit -F arch=b64 -S open,openat,creat -F exit=-EACCES -F auid>=1000 -k access",
    "-a always,exit -F arch=b64 -S chmod,fchmod -F auid>=1000 -F auid!=unset -k perm_mod",
    "-a always,exit -F arch=b64 -S kill -F a1=9 -k kill",
    "-a always,exit -F dir=/etc/hardcost.d -F perm=wa -k tree",
    *(
        f"-a always,exit -F arch=b64 -F dir=/etc/hardcost.d -F perm={kind} -k {kind}"
        for kind in KINDS
    ),
    "-a always,exit -F arch=b64 -S all -F dir=/etc/hardcost.d -F perm=x -k all",
    *(f"-w /etc/hardcost.{number} -p wa -k watched" for number in range(20)),
    "-a never,exit -S rename -F gid=1000 -F success=1",
)


def machine() -> VirtualMachine:
    return VirtualMachine(Cache(), Hardware("icount"))


@pytest.fixture
def constants() -> Constants:
    """Return the shipped constants, where they are of the kernel and QEMU at hand, else fitted."""
    shipped, here = Constants.of_debian(), machine()
    if kernel_constants.fits(shipped, here.environment(Boot())):
        return shipped
    cache = Cache()
    return kernel_constants.kept_constants(here, cache) or asyncio.run(
        kernel_constants.fit_constants(here, cache)
    )


def test_predictions_are_within_3_percent_of_what_is_measured(
    constants: Constants, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "how_often", lambda: dict.fromkeys(CALLS, Often(33)))
    target = Target(
        is_directory=lambda path: path == "/etc/hardcost.d",
        auditctl=constants.auditctl,
    )
    files = {f"/etc/hardcost.{number}" for number in range(20)}
    rules = [
        translate(
            Rule(
                line,
                watched_files=tuple(word for word in line.split() if word in files),
                watched_directories=("/etc/hardcost.d",) if "dir=" in line else (),
            ),
            target,
        )
        for line in LINES
    ]
    baseline = asyncio.run(check.levels_without_rules(machine(), LIMIT_SECONDS))
    rows = asyncio.run(check.compare(machine(), constants, rules, baseline, LIMIT_SECONDS))
    assert [row.operation for row in rows] == list(CALLS)
    for row in rows:
        assert row.measured > 0
        assert abs(row.off) <= 0.03, row


def test_each_file_lies_where_it_is_said_to(constants: Constants) -> None:
    """The first rule in the bucket of the file that `stat` visits costs a step and the bucket.

    One in another adds no cost.
    """
    often = {"open": Often(9), "creat": Often(9), "stat": Often(9)}
    empty = RuleSetRequest((), often)
    (visited,) = rule_set_costs.calls_by_set((empty,), {})
    ((event,),) = visited["stat"]
    own = event.names[0].file.inode % 32
    base = "-a always,exit -S swapoff -F inode="
    others = tuple(f"{base}{number}" for number in range(32) if number != own)
    sets = (others, (*others, f"{base}{own}"))
    levels = [
        asyncio.run(
            rule_set_costs.measure(
                machine(), (RuleSetRequest(lines, often),), Watched(), LIMIT_SECONDS
            )
        ).levels[0]["stat"][0]
        for lines in sets
    ]
    assert levels[1] - levels[0] == constants.walk["unnamed"] + constants.walk["bucket"]


def test_exec_is_predicted_by_the_calls_that_its_program_makes(constants: Constants) -> None:
    idle = tuple(f"-a always,exit -F arch=b64 -S swapoff -F uid={uid}" for uid in range(7, 67))
    often = {"exec": Often(9, 8)}
    sets = tuple(RuleSetRequest(rules, often) for rules in ((), idle))
    found = asyncio.run(rule_set_costs.measure(machine(), sets, Watched(), LIMIT_SECONDS))
    without, under = (statistics.mean(levels["exec"]) for levels in found.levels)
    loaded = load([translate(Rule(line)) for line in idle])
    predicted = check.predict_typical(constants, loaded, "exec")
    assert under - without == pytest.approx(predicted, rel=0.05)


def test_the_command_shows_measurements_beside_predictions(hardcost: Command) -> None:
    of_a_tree = "-a always,exit -F arch=b64 -F dir=/etc -F perm=x -k x\n"  # see KINDS
    mount = "-a always,exit -F arch=b64 -S mount -F auid>=1000 -k m\n"
    hardcost.write("a.rules", mount + of_a_tree)
    outcome = hardcost("rules", "cost", "a.rules", "--measure", "--format", "json")
    rows = {row["operation"]: row for row in outcome.data()["measured"]}
    assert abs(rows["null"]["off"]) <= 0.03
    assert rows["null"]["measured"] > 0
