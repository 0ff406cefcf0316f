"""What follows from a rule's conditions: that one holds where others do, or that two exclude.

Only what is certain is said: False means "not known". Conditions on files are left alone, since a
call has many of them, and so are groups, of which a process has many.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from hardcost.auditrules.kernelrule import UNSET, Operator, Test
from hardcost.auditrules.optimize.reach import (
    always_stand_for,
    reach,
    reach_of_any,
    releases_of,
)
from hardcost.auditrules.tables import lookup

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hardcost.auditrules.kernelrule import Condition, KernelRule
    from hardcost.auditrules.optimize.reach import Reach
    from hardcost.auditrules.tables.lookup import Release

Ranges = tuple[tuple[int, int], ...]
"""Numbers of 32 bits: first and last of each range, lowest range first, with gaps between."""

EVERYTHING: Ranges = ((0, UNSET),)

SINGLE = frozenset({
    "arch", "uid", "euid", "suid", "fsuid", "auid", "sgid", "fsgid", "pid", "ppid", "sessionid",
    "pers", "exit", "a0", "a1", "a2", "a3", "loginuid_set", "saddr_fam",
})  # fmt: skip
"""Fields of which a call has one value, compared as a number."""


def ranges_of(test: Test) -> Ranges | None:
    """Return with which values a test of a field in `SINGLE` holds, None if that is no range."""
    if test.field not in SINGLE or not isinstance(test.value, int):
        return None
    value = test.value
    by_operator: dict[Operator, Ranges] = {
        Operator.EQUAL: ((value, value),),
        Operator.NOT_EQUAL: ((0, value - 1), (value + 1, UNSET)),
        Operator.LESS: ((0, value - 1),),
        Operator.LESS_OR_EQUAL: ((0, value),),
        Operator.GREATER: ((value + 1, UNSET),),
        Operator.GREATER_OR_EQUAL: ((value, UNSET),),
    }
    ranges = by_operator.get(test.operator)
    return None if ranges is None else _checked(*ranges)


def _checked(*ranges: tuple[int, int]) -> Ranges:
    return tuple((first, last) for first, last in ranges if first <= last)


def both(a: Ranges, b: Ranges) -> Ranges:
    """Return the numbers in both."""
    found = [
        (max(first, other_first), min(last, other_last))
        for first, last in a
        for other_first, other_last in b
    ]
    return _checked(*sorted(found))


def either(a: Ranges, b: Ranges) -> Ranges:
    """Return the numbers in one or both."""
    joined: list[tuple[int, int]] = []
    for first, last in sorted((*a, *b)):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(joined[-1][1], last))
        else:
            joined.append((first, last))
    return tuple(joined)


def allowed(field: str, conditions: Iterable[Condition]) -> Ranges:
    """Return values outside of which the conditions on a field exclude each other or the field."""
    left = EVERYTHING
    for condition in conditions:
        if isinstance(condition, Test) and condition.field == field:
            ranges = ranges_of(condition)
            if ranges is not None:
                left = both(left, ranges)
    return left


def exclude_each_other(conditions: Sequence[Condition]) -> bool:
    """Say whether the conditions can't all hold."""
    fields = {test.field for test in conditions if isinstance(test, Test)} & SINGLE
    return any(not allowed(field, conditions) for field in fields)


def follows(condition: Condition, given: Sequence[Condition]) -> bool:
    """Say whether a condition holds wherever the given ones do."""
    if condition in given:
        return True
    if not isinstance(condition, Test):
        return False
    ranges = ranges_of(condition)
    if ranges is None:
        return False
    same_field = [
        test for test in given if isinstance(test, Test) and test.field == condition.field
    ]
    if not any(ranges_of(test) is not None for test in same_field):
        return False  # with no test at all the field may have no value, as `exit`
    left = allowed(condition.field, same_field)
    return bool(left) and both(left, ranges) == left


def perm_holds_always(condition: Condition, calls: Reach, release: Release = lookup.OLDEST) -> bool:
    """Say whether a test of `perm` holds for all of the calls, whatever their arguments."""
    return (
        isinstance(condition, Test)
        and condition.field == "perm"
        and isinstance(condition.value, int)
        and not calls.b64 & ~always_stand_for("b64", condition.value, release)
        and not calls.b32 & ~always_stand_for("b32", condition.value, release)
    )


def covers(wide: KernelRule, narrow: KernelRule, *, b32: bool = True) -> bool:
    """Say whether the first rule matches whatever the second does, under each release."""
    if not _unfollowable(wide.conditions) <= _among(narrow.conditions):
        return False
    return all(
        _covers_under(wide, narrow, release, b32=b32) for release in releases_of(wide, narrow)
    )


def _covers_under(wide: KernelRule, narrow: KernelRule, release: Release, *, b32: bool) -> bool:
    calls = reach(narrow, b32=b32, release=release)
    if not calls.within(reach(wide, b32=b32, release=release)):
        return False
    for condition in wide.conditions:
        if isinstance(condition, Test) and condition.field == "arch":
            continue  # reach has heeded it
        if _perm_is_in(condition, narrow) or perm_holds_always(condition, calls, release):
            continue
        if not follows(condition, narrow.conditions):
            return False
    return True


@lru_cache(maxsize=1 << 14)
def _unfollowable(conditions: tuple[Condition, ...]) -> frozenset[Condition]:
    """Return the conditions that hold for certain only where they stand themselves."""
    return frozenset(
        condition
        for condition in conditions
        if not isinstance(condition, Test)
        or (condition.field not in {"arch", "perm"} and ranges_of(condition) is None)
    )


@lru_cache(maxsize=1 << 14)
def _among(conditions: tuple[Condition, ...]) -> frozenset[Condition]:
    return frozenset(conditions)


def _perm_is_in(condition: Condition, narrow: KernelRule) -> bool:
    """Say whether the rule tests for no permission but some of the condition's."""
    return (
        isinstance(condition, Test)
        and condition.field == "perm"
        and any(
            isinstance(test, Test)
            and test.field == "perm"
            and not int(test.value) & ~int(condition.value)
            for test in narrow.conditions
        )
    )


def can_meet(a: KernelRule, b: KernelRule, *, b32: bool = True) -> bool:
    """Say whether one call might match both rules."""
    return reach_of_any(a, b32=b32).meets(reach_of_any(b, b32=b32)) and not _apart(
        _limits(a.conditions), _limits(b.conditions)
    )


@lru_cache(maxsize=1 << 14)
def _limits(conditions: tuple[Condition, ...]) -> tuple[tuple[str, Ranges], ...]:
    """Return the fields of which a call has one value, and which ones the conditions allow."""
    fields = {test.field for test in conditions if isinstance(test, Test)} & SINGLE
    return tuple((field, allowed(field, conditions)) for field in sorted(fields))


@lru_cache(maxsize=1 << 14)
def _apart(a: tuple[tuple[str, Ranges], ...], b: tuple[tuple[str, Ranges], ...]) -> bool:
    """Say whether no values are within both limits."""
    one, other = dict(a), dict(b)
    return any(
        not both(one.get(field, EVERYTHING), other.get(field, EVERYTHING))
        for field in {*one, *other}
    )


def without_needless(rule: KernelRule, *, b32: bool = True) -> tuple[Condition, ...]:
    """Return the rule's conditions without those that hold wherever the others do."""
    kept = rule.conditions
    for condition in rule.conditions:
        others = tuple(other for other in kept if other is not condition)
        if len(others) == len(kept) or _is_arch(condition):
            continue
        calls = reach(replace(rule, conditions=others), b32=b32)
        if follows(condition, others) or perm_holds_always(condition, calls):
            kept = others
    return kept


def _is_arch(condition: Condition) -> bool:
    return isinstance(condition, Test) and condition.field == "arch"
