"""Placebos in a plan: they do what the profile's controls do, by turns on baseline and profile."""

from __future__ import annotations

from auditrules.model.rule import Rule
from hardcost.controls.configuration import Configuration
from hardcost.controls.control import Profile
from hardcost.mechanisms.audit import AuditDaemon, AuditRule
from hardcost.mechanisms.boot import BootParameter
from hardcost.mechanisms.kconfig import Kernel
from hardcost.mechanisms.placebo import Placebo
from hardcost.mechanisms.rsyslog import Rsyslog
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.model import role
from hardcost.model.role import Named
from hardcost.model.workload import Workload
from hardcost.plan.leave_one_out import bill_plan
from hardcost.plan.placebo import affordable_placebos, configurations, placebos_of_study

SETTING = Sysctl("kernel.panic", "0")


def reference(one: Configuration) -> str | None:
    """Return what a placebo is compared with; None of another configuration."""
    return str(one.role.of) if isinstance(one.role, role.PlaceboRole) else None


def test_half_of_them_are_on_the_baseline_and_half_on_the_profile() -> None:
    found = configurations((AuditDaemon(), SETTING), 4)
    assert [reference(one) for one in found] == ["baseline", "profile"] * 2
    assert found[0].controls[:-1] == (AuditDaemon(),)
    assert found[1].controls[:-1] == (AuditDaemon(), SETTING)
    assert len({one.controls[-1] for one in found}) == 4


def test_they_change_what_the_profile_changes() -> None:
    def kinds(*controls: BootParameter | Sysctl) -> set[str]:
        last = [one.controls[-1] for one in configurations(controls, 8)]
        return {one.kind for one in last if isinstance(one, Placebo)}

    assert kinds(SETTING) == {"sysctl"}
    assert kinds(SETTING, BootParameter("quiet")) == {"sysctl", "boot"}


def test_whole_systems_get_fewer() -> None:
    assert affordable_placebos((SETTING,), [Workload("syscalls")]) == 8
    assert affordable_placebos((Rsyslog(),), [Workload("syscalls")]) == 4
    assert affordable_placebos((SETTING,), [Workload("apache-prefork")]) == 4


def test_a_plan_has_them_where_they_are_asked_for() -> None:
    profile = Profile("p", "p", "", (SETTING,))
    known = bill_plan(profile, [Workload("syscalls")]).configurations
    assert not any(map(reference, known))
    plan = bill_plan(profile, [Workload("syscalls")], placebos=8)
    assert sum(1 for one in plan.configurations if reference(one)) == 8


RULES = (AuditDaemon(), AuditRule(Rule("-a always,exit -S swapon")))


def test_a_studys_are_on_its_baseline_and_on_what_has_most_controls() -> None:
    most, on = Configuration(Named("rules=1 x"), RULES), Configuration(Named("on"), RULES[:1])
    known = (Configuration(Named("off")), most, on)
    found = placebos_of_study(known, Named("off"), [Workload("syscalls")])
    assert [reference(one) for one in found] == ["off", "rules=1 x"] * 4
    placebos = [one.controls[-1] for one in found]
    assert len(set(placebos)) == 8
    kinds = [one.kind for one in placebos if isinstance(one, Placebo)]
    assert "rule" not in kinds[::2]  # without audit there is no list of rules to disturb
    assert set(kinds[1::2]) == {"rule"}


def test_a_studys_need_no_kernel_but_its_baselines() -> None:
    other = (Kernel("lean"), *RULES, SETTING)
    known = (Configuration(Named("a"), RULES), Configuration(Named("b"), other))
    assert {
        reference(one) for one in placebos_of_study(known, Named("a"), [Workload("syscalls")])
    } == {"a"}


def test_a_study_of_whole_systems_has_none() -> None:
    known = (Configuration(Named("a")), Configuration(Named("b"), (SETTING,)))
    assert placebos_of_study(known, Named("a"), [Workload("postfix")]) == ()
    assert (
        placebos_of_study(
            (*known, Configuration(Named("c"), (Rsyslog(),))), Named("a"), [Workload("syscalls")]
        )
        == ()
    )
