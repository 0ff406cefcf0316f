from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardcost.auditrules.event import Event
from hardcost.auditrules.kernelrule import UNSET, Operator, Test
from hardcost.auditrules.lint.conditions import contradiction, implies
from hardcost.auditrules.semantics import holds

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
    Test, st.just("auid"), st.sampled_from(ORDERED), st.sampled_from(NUMBERS[1:-2])
) | st.builds(Test, st.just("loginuid_set"), st.sampled_from(ORDERED[:2]), st.sampled_from([0, 1]))


def matching(*tests: Test) -> set[int]:
    """The login users of whom all tests hold, among those that could tell tests apart."""
    return {
        number
        for number in NUMBERS
        if all(holds(test, Event("b64", 0, auid=number), None, {}) for test in tests)
    }


@given(st.lists(auids, min_size=1, max_size=4))
def test_what_is_called_a_contradiction_matches_nobody(tests: list[Test]) -> None:
    clash = contradiction(tuple(tests))
    assert set(clash) <= set(tests)
    if clash:
        assert not matching(*tests)


@given(auids, auids)
def test_what_is_implied_matches_whomever_the_other_does(first: Test, second: Test) -> None:
    if implies(first, second):
        assert matching(first) <= matching(second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (Test("auid", Operator.GREATER_OR_EQUAL, 1000), Test("auid", Operator.GREATER, 999)),
        (Test("auid", Operator.EQUAL, 1000), Test("loginuid_set", Operator.NOT_EQUAL, 0)),
        (Test("arch", Operator.EQUAL, 0xC000003E), Test("arch", Operator.NOT_EQUAL, 0x40000003)),
        (Test("arch", Operator.NOT_EQUAL, 0x40000003), Test("arch", Operator.EQUAL, 0xC000003E)),
        (Test("perm", Operator.EQUAL, 2), Test("perm", Operator.EQUAL, 10)),
        (Test("path", Operator.EQUAL, "/x"), Test("path", Operator.EQUAL, "/x")),
    ],
)
def test_what_follows_is_seen_and_the_reverse_only_where_it_does(first: Test, second: Test) -> None:
    assert implies(first, second)


def test_neither_abi_is_none_of_the_two() -> None:
    neither = tuple(Test("arch", Operator.NOT_EQUAL, n) for n in (0xC000003E, 0x40000003))
    assert contradiction(neither) == neither
