"""What is looked up is what a comparison of all rules would say."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from audit_rules.tests.prove.rule_sets import rules
from auditrules.kernel.conditions import allowed_values, both
from auditrules.model.kernel_rule import KernelRule, bits
from auditrules.optimize.allowed_values import RulesAllowing, RulesApart
from auditrules.optimize.implication import covers, limits

FIELDS = [
    *(f"{name}{sign}{value}" for name in ("uid", "auid") for sign in ["=", "!=", "<", ">="]
      for value in (0, 3, 4, 7, 1000)),
    "auid!=unset", "uid=root", "a0&3", "a0=1", "pers=8", "exit=-13",
]  # fmt: skip
SOME = st.lists(
    st.lists(st.sampled_from(FIELDS), min_size=1, max_size=3, unique=True), min_size=1, max_size=8
)


def numbered(fields: list[list[str]]) -> dict[int, KernelRule]:
    lines = (f"-a always,exit -S openat {' '.join(f'-F {one}' for one in some)}" for some in fields)
    return dict(enumerate(rules(*lines)))


def are_apart(one: KernelRule, other: KernelRule) -> bool:
    known = dict(limits(one.conditions)), dict(limits(other.conditions))
    empty = any(not values for each in known for values in each.values())
    return empty or any(
        not both(values, known[1].get(field, values)) for field, values in known[0].items()
    )


@settings(deadline=None)
@given(SOME)
def test_rules_are_apart_if_no_value_of_a_field_is_common(fields: list[list[str]]) -> None:
    known = numbered(fields)
    apart = RulesApart(known)
    for rule in known.values():
        found = apart.apart(rule)
        assert [bool(found >> at & 1) for at in known] == [
            are_apart(rule, other) for other in known.values()
        ]


@settings(deadline=None)
@given(SOME)
def test_no_rule_that_covers_another_is_left_out(fields: list[list[str]]) -> None:
    known = numbered(fields)
    allowing = RulesAllowing(known)
    for number, rule in known.items():
        found = allowing.among((1 << len(known)) - 1, rule)
        covering = {at for at, wide in known.items() if covers(wide, rule)}
        assert covering <= {*bits(found)}, (number, covering)


def test_a_rule_that_was_put_under_another_number_is_found_there() -> None:
    known = numbered([["uid=1"], ["uid<5"], ["uid=7"]])
    allowing = RulesAllowing(known)
    assert bits(allowing.among(0b111, known[0])) == (0, 1)
    allowing.put(0, known[1])
    allowing.put(2, known[1])
    assert bits(allowing.among(0b111, known[0])) == (0, 1, 2)
    assert bits(allowing.among(0b111, replace(known[0], conditions=()))) == ()
    assert allowed_values("uid", known[1].conditions) == ((0, 4),)
