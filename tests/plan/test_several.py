from __future__ import annotations

from auditrules.model.rule import Rule
from hardcost.controls.configuration import Setup
from hardcost.controls.control import Control, Profile
from hardcost.mechanisms.audit import AuditDaemon, AuditRule
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.model.workload import Workload
from hardcost.plan import several
from hardcost.plan.leave_one_out import bill_plan
from hardcost.plan.plan import Plan

FILE = AuditRule(Rule("-w /etc/x -k a", watched_files=("/etc/x",)))
TREE = AuditRule(Rule("-w /etc/x/ -k a", watched_directories=("/etc/x",)))
OTHER = AuditRule(Rule("-w /etc/y -k a", watched_files=("/etc/y",)))
RESTRICT = Sysctl("kernel.x", "1")
SYSCALLS = (Workload("syscalls"),)


def planned(*controls: tuple[Control, ...]) -> tuple[tuple[Profile, ...], Plan, tuple[Plan, ...]]:
    named = [Profile(name, "", "", of) for name, of in zip("AB", controls, strict=True)]
    profiles = several.make_alike(named)
    plans = [bill_plan(profile, SYSCALLS) for profile in profiles]
    return profiles, *several.plan_together(profiles, plans, Setup())


def test_rules_on_different_paths_share_a_baseline_in_which_all_paths_are() -> None:
    profiles, whole, plans = planned(
        (AuditDaemon(), FILE),
        (AuditDaemon(), TREE, OTHER),
    )
    assert several.have_one_baseline(plans)
    daemons = {
        one
        for configuration in whole.configurations
        for one in configuration.controls
        if isinstance(one, AuditDaemon)
    }
    assert daemons == {AuditDaemon(directories=("/etc/x",), files=("/etc/y",))}
    assert several.common_controls(profiles) == ()


def test_audit_and_none_have_baselines_of_their_own() -> None:
    profiles, whole, plans = planned((AuditDaemon(), FILE, RESTRICT), (RESTRICT,))
    assert not several.have_one_baseline(plans)
    assert several.common_controls(profiles) == ("kernel.x=1",)
    assert str(whole.baseline) == "A: baseline"
    names = [one.name for one in whole.configurations]
    assert len(names) == len(set(names)) == sum(len(plan.configurations) for plan in plans)
