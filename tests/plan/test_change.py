from __future__ import annotations

from auditrules.model.location import Location
from auditrules.read import parse
from hardcost.controls.control import Profile
from hardcost.mechanisms.audit import AuditDaemon, AuditRule
from hardcost.model.role import Base, Whole
from hardcost.model.workload import Workload
from hardcost.plan.change import changes, lines_plan, whole_plan
from hardcost.plan.several import make_alike

A = "-a always,exit -F arch=b64 -S chmod -k a"
B = "-a always,exit -F arch=b64 -S chown -k b"
C = "-a always,exit -F arch=b64 -S mount -k c"


def profile(*lines: str, backlog: int = 8192) -> Profile:
    found = parse.read_lines((line, Location("x.rules", at)) for at, line in enumerate(lines, 1))
    rules = tuple(map(AuditRule, found.rules))
    return Profile("p", "p", "", (AuditDaemon(backlog), *rules))


def test_only_what_one_state_has_is_a_change() -> None:
    found = changes(profile(A, B), profile(B, C))
    assert (found.added, found.removed) == ((2,), (1,))
    assert not found.moved
    assert not found.of_baseline


def test_the_same_rule_in_other_words_is_no_change() -> None:
    other = "-a exit,always   -F arch=b64 -S chmod -F key=a"
    assert not changes(profile(A), profile("# words", other)).any


def test_a_rule_that_moved_is_neither_added_nor_removed() -> None:
    found = changes(profile(A, B), profile(B, A))
    assert (found.added, found.removed, found.moved) == ((), (), True)


def test_audit_s_own_settings_are_a_change_without_a_line() -> None:
    found = changes(profile(A), profile(A, backlog=64))
    assert (found.added, found.of_baseline) == ((), True)


def test_a_plan_has_both_states_and_each_without_a_line() -> None:
    base, head = profile(A, B), profile(B, C)
    base, head = make_alike((base, head))
    plan = whole_plan(base, head, (Workload("syscalls"),), instrument="insn")
    names = [one.name for one in plan.configurations]
    assert names[:3] == ["baseline", "base", "profile"]
    of_head = lines_plan(plan, head, Whole(), [(2,), (1, 2)])
    of_base = lines_plan(plan, base, Base(), [(1,)])
    texts = {
        one.name: [c.name for c in one.controls if isinstance(c, AuditRule)]
        for one in (*of_head.configurations, *of_base.configurations)
    }
    assert texts == {"without:2": [B], "without:1-2": [], "base-without:1": [B]}
