from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditrules.kernel.conditions import contradiction, follows
from auditrules.kernel.event import Event
from auditrules.kernel.field_tests import holds
from auditrules.model.kernel_rule import UNSET, FieldTest, Operator

NUMBERS = (0, 1, 2, 3, 999, 1000, 1001, UNSET - 1, UNSET)
ORDERED = (
    Operator.EQUAL,
    Operator.NOT_EQUAL,
    Operator.LESS,
    Operator.LESS_OR_EQUAL,
    Operator.GREATER,
    Operator.GREATER_OR_EQUAL,
)

auids = st.builds(
    FieldTest, st.just("auid"), st.sampled_from(ORDERED), st.sampled_from(NUMBERS[1:-2])
) | st.builds(
    FieldTest, st.just("loginuid_set"), st.sampled_from(ORDERED[:2]), st.sampled_from([0, 1])
)


def matching(*tests: FieldTest) -> set[int]:
    """The login users of whom all tests hold, among those that could distinguish tests."""
    return {
        number
        for number in NUMBERS
        if all(holds(test, Event("b64", 0, auid=number), None, {}) for test in tests)
    }


@given(st.lists(auids, min_size=1, max_size=4))
def test_what_is_called_a_contradiction_matches_nobody(tests: list[FieldTest]) -> None:
    clash = contradiction(tuple(tests))
    assert set(clash) <= set(tests)
    if clash:
        assert not matching(*tests)


@given(st.lists(auids, min_size=1, max_size=3), auids)
def test_what_follows_matches_whomever_the_others_do(
    given: list[FieldTest], test: FieldTest
) -> None:
    if follows(test, tuple(given)):
        assert matching(*given) <= matching(test)


tests_of_a0 = st.builds(
    FieldTest, st.just("a0"), st.sampled_from(tuple(Operator)), st.integers(0, 9)
)


@settings(deadline=None)  # a busy machine is no fault
@given(st.lists(tests_of_a0, min_size=1, max_size=4), tests_of_a0)
def test_of_small_numbers_just_what_is_so_is_said(given: list[FieldTest], test: FieldTest) -> None:
    """What bits of large numbers would settle is not looked for: hence the bound."""

    def held(*tests: FieldTest) -> set[int]:
        return {
            number
            for number in range(10)
            if all(holds(one, Event("b64", 0, (number, 0, 0, 0)), None, {}) for one in tests)
        }

    small = (FieldTest("a0", Operator.LESS_OR_EQUAL, 9), *given)
    assert bool(contradiction(small)) == (not held(*small))
    if test.operator not in {Operator.ANY_BIT, Operator.ALL_BITS}:
        assert follows(test, small) == (held(*small) <= held(test))


def test_each_condition_of_several_may_be_needed_for_what_follows() -> None:
    at_least, at_most = (
        FieldTest("uid", operator, 7)
        for operator in (Operator.GREATER_OR_EQUAL, Operator.LESS_OR_EQUAL)
    )
    exactly = FieldTest("uid", Operator.EQUAL, 7)
    assert follows(exactly, (at_least, at_most))
    assert not follows(exactly, (at_least,))
    assert not follows(exactly, ())
    assert not follows(FieldTest("exit", Operator.GREATER_OR_EQUAL, 0), (exactly,))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            FieldTest("auid", Operator.GREATER_OR_EQUAL, 1000),
            FieldTest("auid", Operator.GREATER, 999),
        ),
        (FieldTest("auid", Operator.EQUAL, 1000), FieldTest("loginuid_set", Operator.NOT_EQUAL, 0)),
        (
            FieldTest("arch", Operator.EQUAL, 0xC000003E),
            FieldTest("arch", Operator.NOT_EQUAL, 0x40000003),
        ),
        (
            FieldTest("arch", Operator.NOT_EQUAL, 0x40000003),
            FieldTest("arch", Operator.EQUAL, 0xC000003E),
        ),
        (FieldTest("perm", Operator.EQUAL, 2), FieldTest("perm", Operator.EQUAL, 10)),
        (FieldTest("path", Operator.EQUAL, "/x"), FieldTest("path", Operator.EQUAL, "/x")),
    ],
)
def test_what_follows_is_seen_and_the_reverse_only_where_it_does(
    first: FieldTest, second: FieldTest
) -> None:
    assert follows(second, (first,))


def test_neither_abi_is_none_of_the_two() -> None:
    neither = tuple(FieldTest("arch", Operator.NOT_EQUAL, n) for n in (0xC000003E, 0x40000003))
    assert contradiction(neither) == neither
