"""Lists that have most rules in common, compared by the others."""

from __future__ import annotations

from unittest import mock

import pytest
from hypothesis import given, settings

from audit_rules.tests.prove.rule_sets import RELATIONS, loadable, pairs_of_sets, rules
from auditrules.prove import prove
from auditrules.prove.call_classes import RuleRest
from auditrules.prove.few_changes import changed_rules
from auditrules.prove.prove import prove_equal
from auditrules.prove.relation import Relation


def rest(line: str) -> RuleRest:
    (rule,) = rules(f"-a always,exit -S openat {line}")
    return RuleRest(frozenset(rule.conditions), always=True, key=rule.key, bucket=rule.in_a_bucket)


ONE = rest("-F uid=1 -k one")
SOME = rest("-F uid<3 -k one")
OTHER = rest("-F uid=2 -k one")
THIRD = rest("-F gid>4 -k two")
APART = rest("-F uid=7 -k two")
EITHER = rest("-F uid>=1 -F uid<=2 -k one")
FILE = rest("-F path=/etc/passwd -F uid=5 -k file")


def test_common_rules_before_all_changes_or_behind_them_are_left_out() -> None:
    assert changed_rules([THIRD, ONE, OTHER, FILE], [THIRD, EITHER, FILE]) == [
        ((ONE, OTHER), (EITHER,))
    ]


def test_a_common_rule_between_is_left_out_if_it_never_meets_those_behind_it() -> None:
    assert changed_rules([ONE, APART, OTHER], [EITHER, APART]) == [((ONE, OTHER), (EITHER,))]
    assert changed_rules([ONE, FILE, OTHER], [EITHER, FILE]) == [((ONE, OTHER), (EITHER,))]


def test_those_before_a_common_rule_between_are_compared_by_themselves() -> None:
    assert changed_rules([ONE, THIRD, OTHER], [EITHER, THIRD]) == [
        ((ONE, OTHER), (EITHER,)),
        ((ONE,), (EITHER,)),
    ]


def test_a_rule_that_a_common_one_covers_is_no_change() -> None:
    assert changed_rules([SOME, THIRD, ONE], [SOME, THIRD]) == [((), ())]
    assert changed_rules([ONE, APART, SOME], [APART, SOME]) == [((ONE, SOME), (SOME,))]


def test_a_moved_rule_is_a_change_on_both_sides() -> None:
    moved = changed_rules([ONE, THIRD, APART], [THIRD, APART, ONE])
    assert moved is not None
    assert moved[0] == ((ONE,), (ONE,))


@pytest.mark.parametrize("other", [[], [FILE, ONE]])
def test_of_a_changed_rule_in_a_bucket_nothing_is_known(other: list[RuleRest]) -> None:
    assert changed_rules([rest("-F path=/etc/group -k file"), *other], other) is None


@settings(deadline=None)
@given(pairs_of_sets(), RELATIONS)
def test_the_answer_is_that_of_all_rules(
    pair: tuple[list[str], list[str]], relation: Relation
) -> None:
    a, b = (loadable(text) for text in pair)
    with mock.patch.object(prove, "changed_rules", return_value=None):
        by_all = prove_equal(a, b, relation).equal
    assert prove_equal(a, b, relation).equal == by_all
