"""The other lists of rules: of tasks, users, excluded records and file systems."""

from __future__ import annotations

from dataclasses import replace

import pytest

from audit_rules.tests.prove.rule_sets import OTHER, proved, rules
from auditrules.kernel.semantics import FilterDecision
from auditrules.model.kernel_rule import FilterList
from auditrules.prove.prove import prove_equal
from auditrules.prove.relation import Relation
from auditrules.tables import lookup


def test_the_task_list_decides_by_its_first_match() -> None:
    never = "-a never,task -F uid=1"
    assert proved((never,), (never, "-a never,task -F uid=1 -F gid=2")).equal
    result = proved((never,), ("-a never,task -F uid=2",))
    assert result.difference is not None
    assert result.difference.list is FilterList.TASK
    assert {result.difference.outcome_a.decision, result.difference.outcome_b.decision} == {
        FilterDecision.NEVER,
        FilterDecision.NONE,
    }


def test_a_rule_of_the_task_list_that_asks_for_a_call_never_holds() -> None:
    assert proved(("-a never,task -F arch=b64", OTHER), (OTHER,)).equal


def test_records_that_are_excluded_differ_by_their_type() -> None:
    cwd = "-a always,exclude -F msgtype=CWD"
    result = proved((cwd,), ("-a always,exclude -F msgtype=PATH",))
    assert result.difference is not None
    assert result.difference.record_type in {lookup.records()["CWD"], lookup.records()["PATH"]}
    assert proved((cwd,), (cwd.replace("always", "never"),)).equal


def test_a_key_ends_the_walk_of_the_user_list() -> None:
    never = "-a never,user -F uid=1"
    keyed = replace(rules(never)[0], key="k")
    assert prove_equal([keyed], []).equal
    assert prove_equal([keyed, *rules(never)], []).equal
    assert prove_equal(rules(never), []).equal is False


def test_file_systems_that_are_hidden_differently_make_a_difference() -> None:
    hide, watch = "-a never,filesystem -F fstype=debugfs", "-w /f -p r"
    assert proved((hide, watch), (hide, watch)).equal
    for one, other in (((hide, watch), (watch,)), ((watch,), (hide, watch))):
        result = proved(one, other)
        assert result.difference is not None
        assert [name.filesystem for name in result.difference.event.names] == [0x64626720]
    two = ("-a never,exit -S rename -F dir=/d", "-a always,exit -S rename")
    assert proved((hide, *two), two, Relation(at_least=True)).equal is False
    # a set that sees less here records more: true, but beyond the prover, and it says so
    trees = ("-a never,exit -S rename -F dir=/d", "-a always,exit -S rename -F dir=/e")
    result = proved((hide, *trees), trees, Relation(at_least=True, ignore_raised=True))
    assert result.equal is None
    assert "filesystem" in result.reason


@pytest.mark.parametrize("relation", [Relation(), Relation(ignore_raised=True)])
def test_a_record_that_lists_fewer_files_is_another_record(relation: Relation) -> None:
    hide = "-a never,filesystem -F fstype=tracefs"
    opened = "-a always,exit -S openat -k opened"
    for one, other in (((opened,), (hide, opened)), ((hide, opened), (opened,))):
        difference = proved(one, other, relation).difference
        assert difference is not None
        assert difference.outcome_a.key == difference.outcome_b.key == "opened"
        lists = {len(found.names) for found in (difference.outcome_a, difference.outcome_b)}
        assert lists == {0, 1}
        assert [name.filesystem for name in difference.event.names] == [0x74726163]


def test_at_least_asks_for_all_files_of_a_record_and_allows_more() -> None:
    hide, opened = "-a never,filesystem -F fstype=tracefs", "-a always,exit -S openat"
    wanted = Relation(at_least=True, ignore_raised=True)
    assert proved((hide, opened), (opened,), wanted).equal
    assert proved((opened,), (hide, opened), wanted).equal is False


def test_a_rule_of_any_list_has_the_receivers_of_signals_noted() -> None:
    """As `audit_signals` counts them: what is recorded of `kill` for SELinux then names those."""
    hide, opened = "-a never,filesystem -F fstype=tracefs", "-a always,exit -S openat"
    difference = proved((hide, opened), (opened,), Relation(at_least=True)).difference
    assert difference is not None
    assert lookup.call_name("b64", difference.event.call) == "kill"
    assert difference.outcome_a.receivers
    assert not difference.outcome_b.receivers


def test_where_nothing_is_recorded_it_matters_not_which_files_are_hidden() -> None:
    hide, never = "-a never,filesystem -F fstype=tracefs", "-a never,exit -S getppid"
    assert proved((hide, never), (never,), Relation(ignore_raised=True)).equal


# Watches of paths whose kind is not known


def test_a_file_that_is_always_hidden_decides_nothing() -> None:
    other = "-a always,exit -S read,kill"
    hide = ("-a never,filesystem -F fstype=5", "-a never,filesystem -F fstype!=5", other)
    assert proved((*hide, "-w /f -p r"), hide).equal
    # a name that the call gave stays, without a file
    owned = (*hide, "-a always,exit -S openat -F obj_uid=0")
    result = proved(owned, hide)
    assert result.difference is not None
    assert [name.path for name in result.difference.event.names] == [None]
