"""Optimised rules in a real kernel: accepted, cheaper as predicted, recording the same."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from pathlib import Path

import pytest

from auditrules.auditctl.translate import AS_WRITTEN, translate_all
from auditrules.cost.constants import Constants
from auditrules.cost.histogram import general
from auditrules.load.load import combine
from auditrules.load.watched_paths import paths
from auditrules.model.kernel_lists import DuplicateError, check_distinct
from auditrules.model.kernel_rule import KernelRule
from auditrules.optimize.optimize import OptimizeOptions, optimise
from auditrules.optimize.output import rule_text, text
from auditrules.read import parse
from auditrules.tables import lookup
from auditrules.tables.lookup import Arch
from bench.rules.sample_rules import sample_rules
from conformance.agreement import GUEST
from conformance.battery import WantedRules, run_battery
from conformance.random_rules import RuleDrawing
from conformance.repertoire import CALLS
from hardcost.calibration import rule_set_costs
from hardcost.calibration.rule_set_costs import Often, Watched
from hardcost.machines.vm.argv import Hardware
from hardcost.machines.vm.machine import VirtualMachine
from hardcost.supply.cache.cache import Cache

pytestmark = [pytest.mark.vm, pytest.mark.slow, pytest.mark.usefixtures("read_for")]

STIG = "30-stig.rules"
MEASURED = {"null": "getppid", "read": "read", "write": "write", "stat": "newfstatat"}
LIMIT_SECONDS = 240.0
BASELINE = "-a always,exit -S 511 -F path=/etc/nothing-looks-here -k baseline"
"""One rule that no call meets, so that what any rule at all costs is in both."""

RULES = """\
-a always,exit -F arch=b32 -S chmod,fchmod -F auid>=1000 -F auid!=unset -k perm
-a always,exit -F arch=b64 -S chmod,fchmod,fchmodat -F auid>=1000 -F auid!=unset -k perm
-a always,exit -F arch=b64 -S chown,lchown,fchown -F auid>=1000 -F auid!=unset -k perm
-w /field/f1 -p wa -k file
-w /field/f2 -p rwa -k file
-a never,exit -F arch=b64 -S openat -F path=/field/f3
-a always,exit -F dir=/field/dir -F perm=wa -k tree
-a always,exit -F dir=/yard/dir -F perm=rwa -k tree
-a always,exit -F arch=b64 -S open,openat,creat,truncate -F exit=-EACCES -F auid>=1000 -k access
-a always,exit -F arch=b64 -S open,openat,creat,truncate -F exit=-EPERM -F auid>=1000 -k access
-a always,exit -F arch=b32 -S open,openat,creat,truncate -F exit=-EACCES -F auid>=1000 -k access
-a always,exit -F arch=b32 -S open,openat,creat,truncate -F exit=-EPERM -F auid>=1000 -k access
-a always,exit -F arch=b32 -S execve -C uid!=euid -F euid=0 -k priv
-a always,exit -F arch=b64 -S execve -C uid!=euid -F euid=0 -k priv
-a always,exit -F arch=b64 -S unlink,unlinkat,rename,renameat -k delete
-a always,exit -F arch=b32 -S unlink,unlinkat,rename,renameat -k delete
"""


def optimised(rules: str, options: OptimizeOptions | None = None) -> str | None:
    """Return the file that the optimiser makes of rules; None where the kernel refuses some."""
    readings = parse.read_bytes(rules.encode(), "x.rules")
    written, wrong = combine(readings)
    taken, faults = translate_all(written.rules, GUEST)
    try:
        check_distinct(taken)
    except DuplicateError:
        return None
    if wrong or faults or not taken:
        return None
    options = options or OptimizeOptions(thorough=True)
    made = optimise(taken, Constants.of_debian(), general(), options)
    return text(made, readings, GUEST) if made.saves else None


def test_a_battery_of_calls_is_recorded_alike_under_both_sets(cache_root: Path) -> None:
    machine = VirtualMachine(Cache(cache_root), Hardware("tcg"))
    learned = run_battery(machine, [WantedRules(RULES)])
    drawing = RuleDrawing(random.Random(5), learned.events)  # noqa: S311  (no secret)
    originals = [RULES, *(drawing.rule_set(60, number).rules for number in range(12))]
    pairs = [(one, made) for one in originals if (made := optimised(one)) is not None]
    assert pairs[0][0] == RULES
    assert len(pairs) > 2
    battery = run_battery(machine, [one for pair in pairs for one in pair])
    recorded = 0
    for number, (_, made) in enumerate(pairs):
        before, after = battery.sets[2 * number : 2 * number + 2]
        assert after.refused == frozenset(), (after.complaints, made)
        unsteady = before.unsteady | after.unsteady
        kept = [
            {at: key for at, key in one.recorded.items() if at not in unsteady}
            for one in (before, after)
        ]
        assert kept[0] == kept[1], made
        recorded += len(kept[0])
    assert recorded > 100
    assert len(CALLS) > recorded / len(pairs)


@pytest.mark.parametrize("never_first", [False, True])
def test_the_stig_rules_cost_less_by_what_was_predicted(
    cache_root: Path, *, never_first: bool
) -> None:
    cache = Cache(cache_root)
    machine = VirtualMachine(cache, Hardware("icount"))
    original, watched = rules_of(sample_rules(cache) / STIG)
    options = OptimizeOptions(never_first=never_first, thorough=True)
    made = optimise(original, Constants.of_debian(), general(), options)
    often = dict.fromkeys(MEASURED, Often(9))
    sets = (
        rule_set_costs.RuleSetRequest((BASELINE,), often),
        rule_set_costs.RuleSetRequest(
            tuple(rule.source.text for rule in original if rule.source), often
        ),
        rule_set_costs.RuleSetRequest(
            tuple(rule_text(replace(rule, source=None)) for rule in made.rules), often
        ),
    )
    measured = asyncio.run(rule_set_costs.measure(machine, sets, watched, LIMIT_SECONDS)).levels
    for operation, call in MEASURED.items():
        base, before, after = (one[operation][0] for one in measured)
        at: tuple[Arch, int] = ("b64", lookup.calls("b64")[call])
        assert before - base == pytest.approx(made.before[at], rel=0.1)
        assert after - base == pytest.approx(made.after[at], rel=0.1)
        assert after < before
        if never_first and operation in {"read", "write"}:
            assert after - base <= (before - base) / 3


def rules_of(file: Path) -> tuple[tuple[KernelRule, ...], Watched]:
    """Return the rules of a file, and what they watch."""
    written = parse.read([file]).rules
    taken, faults = translate_all(written, AS_WRITTEN)
    assert not faults
    directories, files = paths(written)
    return taken, Watched(directories, (*files, "/etc/nothing-looks-here"))
