"""Whether one rule matches whatever another does, and which conditions of a rule are redundant.

An answer of True is certain; False means "not known". Conditions on files and groups are not
analysed, since a call has many files and a process many groups.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from auditrules.kernel.conditions import (
    SINGLE,
    Ranges,
    allowed_values,
    follows,
    ranges_of,
)
from auditrules.model.kernel_rule import Condition, FieldTest, KernelRule, is_test
from auditrules.optimize.reachable_calls import (
    ReachableCalls,
    always_stand_for,
    reach,
    releases_of,
)
from auditrules.tables import lookup
from auditrules.tables.lookup import Release


def perm_holds_always(
    condition: Condition, calls: ReachableCalls, release: Release = lookup.OLDEST
) -> bool:
    """Say whether a test of `perm` holds for all of the calls, whatever their arguments."""
    return (
        isinstance(condition, FieldTest)
        and condition.field == "perm"
        and isinstance(condition.value, int)
        and not calls.b64 & ~always_stand_for("b64", condition.value, release)
        and not calls.b32 & ~always_stand_for("b32", condition.value, release)
    )


def covers(wide: KernelRule, narrow: KernelRule, *, b32: bool = True) -> bool:
    """Say whether the first rule matches whatever the second does, under each release."""
    if not unfollowable(wide.conditions) <= _among(narrow.conditions):
        return False
    return all(
        _covers_under(wide, narrow, release, b32=b32) for release in releases_of(wide, narrow)
    )


def _covers_under(wide: KernelRule, narrow: KernelRule, release: Release, *, b32: bool) -> bool:
    calls = reach(narrow, b32=b32, release=release)
    if not calls.within(reach(wide, b32=b32, release=release)):
        return False
    for condition in wide.conditions:
        if is_test(condition, "arch"):
            continue  # reach has taken it into account
        if perm_holds_always(condition, calls, release):
            continue
        if not follows(condition, narrow.conditions):
            return False
    return True


@lru_cache(maxsize=1 << 14)
def unfollowable(conditions: tuple[Condition, ...]) -> frozenset[Condition]:
    """Return the conditions that only an equal condition implies."""
    return frozenset(
        condition
        for condition in conditions
        if not isinstance(condition, FieldTest)
        or (condition.field not in {"arch", "perm"} and ranges_of(condition) is None)
    )


@lru_cache(maxsize=1 << 14)
def _among(conditions: tuple[Condition, ...]) -> frozenset[Condition]:
    return frozenset(conditions)


@lru_cache(maxsize=1 << 14)
def limits(conditions: tuple[Condition, ...]) -> tuple[tuple[str, Ranges], ...]:
    """Return the values that the conditions allow for each field with one value per call."""
    fields = {test.field for test in conditions if isinstance(test, FieldTest)} & SINGLE
    return tuple((field, allowed_values(field, conditions)) for field in sorted(fields))


def without_needless(rule: KernelRule, *, b32: bool = True) -> tuple[Condition, ...]:
    """Return the rule's conditions without those that the others imply."""
    kept = rule.conditions
    for condition in rule.conditions:
        others = tuple(other for other in kept if other is not condition)
        if len(others) == len(kept) or is_test(condition, "arch"):
            continue
        calls = reach(replace(rule, conditions=others), b32=b32)
        if follows(condition, others) or perm_holds_always(condition, calls):
            kept = others
    return kept
