"""Placebos in a plan: they do what the profile's controls do, by turns on baseline and profile."""

from __future__ import annotations

from hardcost.controls.control import (
    AuditDaemon,
    BootParameter,
    Placebo,
    Profile,
    Rsyslog,
    Sysctl,
)
from hardcost.design.leave_one_out import bill_plan
from hardcost.design.placebos import affordable, configurations, reference
from hardcost.design.plan import Workload

SETTING = Sysctl("kernel.panic", "0")


def test_half_of_them_are_on_the_baseline_and_half_on_the_profile() -> None:
    found = configurations((AuditDaemon(), SETTING), 4)
    assert [reference(one.name) for one in found] == ["baseline", "profile"] * 2
    assert found[0].controls[:-1] == (AuditDaemon(),)
    assert found[1].controls[:-1] == (AuditDaemon(), SETTING)
    assert len({one.controls[-1] for one in found}) == 4


def test_they_change_what_the_profile_changes() -> None:
    def kinds(*controls: BootParameter | Sysctl) -> set[str]:
        last = [one.controls[-1] for one in configurations(controls, 8)]
        return {one.kind for one in last if isinstance(one, Placebo)}

    assert kinds(SETTING) == {"sysctl"}
    assert kinds(SETTING, BootParameter("quiet")) == {"sysctl", "boot"}


def test_a_configuration_of_another_kind_is_no_placebo() -> None:
    assert reference("without:0") is None
    assert reference("placebo") is None


def test_whole_systems_get_fewer() -> None:
    assert affordable((SETTING,), [Workload("syscalls")]) == 8
    assert affordable((Rsyslog(),), [Workload("syscalls")]) == 4
    assert affordable((SETTING,), [Workload("apache-prefork")]) == 4


def test_a_plan_has_them_where_they_are_asked_for() -> None:
    profile = Profile("p", "p", "", (SETTING,))
    names = [one.name for one in bill_plan(profile, [Workload("syscalls")]).configurations]
    assert not any(map(reference, names))
    plan = bill_plan(profile, [Workload("syscalls")], placebos=8)
    assert sum(1 for one in plan.configurations if reference(one.name)) == 8
