from __future__ import annotations

from dataclasses import dataclass

from auditrules.model.rule import Rule
from hardcost.controls.control import Control, Profile
from hardcost.mechanisms.audit import AuditDaemon, AuditRule
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.model.role import AuditOff, Fired, Idle
from hardcost.model.workload import Workload
from hardcost.plan import first_rule
from hardcost.plan.leave_one_out import bill_plan

ON_EXIT = AuditRule(Rule("-a always,exit -F arch=b64 -S open -k opened"))
ON_TASK = AuditRule(Rule("-a always,task -F uid=0"))
ON_USER = AuditRule(Rule("-a never,user -F uid=0"))
OTHER = Sysctl("kernel.x", "1")


@dataclass(frozen=True)
class Filter(Control):
    """A kind that no mechanism has, whose first one has a price of its own."""

    text: str

    mechanism = "filter"

    @property
    def name(self) -> str:
        return self.text

    @property
    def pays(self) -> bool:
        return True

    @property
    def idle(self) -> tuple[Control, ...]:
        return Filter("idle 1"), Filter("idle 2")


def test_rules_are_paid_for_by_their_list() -> None:
    assert first_rule.indices_paid_for((AuditDaemon(), ON_EXIT, ON_TASK, ON_USER, OTHER)) == (1, 2)


def test_idle_rules_are_measured_only_for_the_exit_list() -> None:
    assert first_rule.configurations((AuditDaemon(), ON_TASK, OTHER)) == ()
    found = first_rule.configurations((AuditDaemon(), ON_EXIT, ON_TASK, OTHER))
    assert [one.role for one in found] == [Idle(0), Idle(1), Idle(2)]
    assert found[0].controls == (AuditDaemon(), OTHER)


def test_another_kind_that_pays_is_measured_with_idle_ones_of_its_own() -> None:
    found = first_rule.configurations((OTHER, Filter("a"), Filter("b")))
    assert [one.controls for one in found] == [
        (OTHER,),
        (OTHER, Filter("idle 1")),
        (OTHER, Filter("idle 1"), Filter("idle 2")),
    ]


def test_a_kind_without_records_of_its_own_has_no_trial_that_counts_them() -> None:
    plan = bill_plan(Profile("p", "t", "", (Filter("a"),)), [Workload("syscalls")])
    roles = {one.role for one in plan.configurations}
    assert Idle(2) in roles
    assert not roles & {Fired(), AuditOff()}
