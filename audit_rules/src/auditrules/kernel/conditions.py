"""Consequences of a rule's conditions: that they can't all hold, or that they imply another.

The functions are sound but not complete: a positive answer is certain, a negative one is not. The
linter and the optimiser share them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise

from auditrules.kernel.field_tests import compare
from auditrules.model.kernel_rule import (
    ATTRIBUTES,
    EXECUTE,
    READ,
    UNSET,
    WRITE,
    Condition,
    FieldTest,
    IdComparison,
    Operator,
    is_test,
)
from auditrules.tables import lookup

Ranges = tuple[tuple[int, int], ...]
"""Numbers of 32 bits: first and last of each range, lowest range first, with gaps between."""

EVERYTHING: Ranges = ((0, UNSET),)

_OF_THE_CALL = frozenset({
    "auid", "uid", "euid", "suid", "fsuid", "sgid", "fsgid", "pid", "ppid", "sessionid", "pers",
    "exit", "a0", "a1", "a2", "a3", "saddr_fam", "arch", "success",
})  # fmt: skip
"""Fields with one number per call. gid and egid also cover the supplementary groups."""

SINGLE = _OF_THE_CALL - {"success"} | {"loginuid_set"}
"""Fields with one value per call, compared as a number."""

_OF_ONE_RECORD = frozenset({"msgtype"})
"""Fields with one number per record, on the lists that decide about records."""

_OF_ONE_FILE = frozenset({"obj_uid", "obj_gid", "inode"})
"""Fields with one number per visited file."""

_ONE_TEXT = frozenset({"subj_user", "subj_role", "subj_type"})
_SUCCESS, _FAILURE = 1, 2  # AUDITSC_SUCCESS and _FAILURE, which the field is compared with
_DOMAINS: dict[str, Ranges] = {
    "arch": tuple((number, number) for number in sorted(lookup.ARCH_NUMBERS.values())),
    "success": ((_SUCCESS, _FAILURE),),
}
"""The possible numbers of fields that can't have any number."""

_OPPOSITE = {
    Operator.EQUAL: Operator.NOT_EQUAL,
    Operator.NOT_EQUAL: Operator.EQUAL,
    Operator.LESS: Operator.GREATER_OR_EQUAL,
    Operator.GREATER_OR_EQUAL: Operator.LESS,
    Operator.GREATER: Operator.LESS_OR_EQUAL,
    Operator.LESS_OR_EQUAL: Operator.GREATER,
}
_FEW = 64
"""At most so many numbers are tried one by one, for tests of bits."""

_PERMISSION_SETS = (READ, WRITE, READ | WRITE, EXECUTE, ATTRIBUTES, WRITE | ATTRIBUTES)
"""The permissions that one call can have: r and w by its flags or quotactl, w and a by link."""


@lru_cache(maxsize=1 << 16)
def contradiction(
    conditions: tuple[Condition, ...], *, one_file: bool = False
) -> tuple[Condition, ...]:
    """Return some of the conditions that can't hold together, none where they may.

    `one_file`: all are tested on one visited file, as in an inode's bucket.
    """
    by_field: dict[str, list[Condition]] = {}
    for condition in conditions:
        by_field.setdefault(subject_of(condition), []).append(condition)
    single = _OF_THE_CALL | _OF_ONE_RECORD | (_OF_ONE_FILE if one_file else frozenset())
    for name, alike in by_field.items():
        if _clash(name, alike, single):
            return tuple(alike)
    return ()


@lru_cache(maxsize=1 << 16)
def follows(condition: Condition, given: tuple[Condition, ...]) -> bool:
    """Say whether a condition holds wherever all the given ones do.

    Nothing follows without a condition on the same field, which may have no value (`exit`).
    """
    if condition in given:
        return True
    if not isinstance(condition, FieldTest):
        return False
    name = subject_of(condition)
    alike = [one for one in given if isinstance(one, FieldTest) and subject_of(one) == name]
    if name == "perm":
        return any(not value_of(one) & ~value_of(condition) for one in alike)
    wanted = _numbers(condition)
    if not alike or wanted is None or name not in _OF_THE_CALL | _OF_ONE_RECORD:
        return False
    return not _possible(name, alike, outside(wanted))


def subject_of(condition: Condition) -> str:
    """Return the subject of a condition; conditions on different subjects imply nothing."""
    if isinstance(condition, IdComparison):
        return f"{condition.left} {condition.right}"
    return "auid" if condition.field == "loginuid_set" else condition.field


def _clash(name: str, alike: Sequence[Condition], single: frozenset[str]) -> bool:
    tests = [one for one in alike if isinstance(one, FieldTest)]
    if len(tests) != len(alike):
        return not name.split(" ")[1].startswith("obj_") and _are_opposed(alike)
    if name == "perm":
        wanted = [value_of(test) for test in tests]
        return not any(all(have & want for want in wanted) for have in _PERMISSION_SETS)
    if any(isinstance(test.value, str) for test in tests) and _texts_clash(name, tests, single):
        return True
    if name in {"gid", "egid"}:
        return _are_opposed(tests)
    return name in single and not _possible(name, tests)


def _are_opposed(alike: Sequence[Condition]) -> bool:
    """Say whether there is a condition and its very opposite."""
    held = {(_value(one), one.operator) for one in alike}
    return any(
        (value, _OPPOSITE[operator]) in held for value, operator in held if operator in _OPPOSITE
    )


def _value(condition: Condition) -> int | str:
    return condition.value if isinstance(condition, FieldTest) else ""


def _texts_clash(name: str, tests: Sequence[FieldTest], single: frozenset[str]) -> bool:
    if name not in single | _ONE_TEXT | {"gid", "egid"}:
        return False
    equals = {test.value for test in tests if test.operator is Operator.EQUAL}
    # Two user names may mean one user, but two types of a label always differ.
    return _are_opposed(tests) or (name in _ONE_TEXT and len(equals) > 1)


def _numbers(test: FieldTest) -> Ranges | None:
    """Return the numbers of its subject for which a test holds, None if they are not ranges.

    The subject of `loginuid_set` is `auid`.
    """
    if test.field == "loginuid_set":
        value = value_of(test)
        set_ = ((0, UNSET - 1),) if compare(1, test.operator, value) else ()
        unset = ((UNSET, UNSET),) if compare(0, test.operator, value) else ()
        return either(set_, unset)
    if test.field == "success":
        test = FieldTest("success", test.operator, _SUCCESS if value_of(test) else _FAILURE)
    return _within(test)


def value_of(test: FieldTest) -> int:
    """Return the number that a test compares with, 0 where only the target knows it."""
    return test.value if isinstance(test.value, int) else 0


def _possible(name: str, tests: Iterable[FieldTest], within: Ranges = EVERYTHING) -> bool:
    """Say whether some number of a field meets all tests; yes where that is not known."""
    left = both(_DOMAINS.get(name, EVERYTHING), within)
    unknown: list[FieldTest] = []
    for test in tests:
        ranges = _numbers(test)
        if ranges is not None:
            left = both(left, ranges)
        elif isinstance(test.value, int):
            unknown.append(test)
    if sum(last - first + 1 for first, last in left) > _FEW:
        return True
    return any(
        all(compare(number, test.operator, value_of(test)) for test in unknown)
        for first, last in left
        for number in range(first, last + 1)
    )


# Ranges of numbers ----------------------------------------------------------------------------


def ranges_of(test: FieldTest) -> Ranges | None:
    """Return the values for which a test of a field in `SINGLE` holds, None if not ranges."""
    return _within(test) if test.field in SINGLE else None


def _within(test: FieldTest) -> Ranges | None:
    value = test.value
    if not isinstance(value, int):
        return None
    by_operator: dict[Operator, Ranges] = {
        Operator.EQUAL: ((value, value),),
        Operator.NOT_EQUAL: ((0, value - 1), (value + 1, UNSET)),
        Operator.LESS: ((0, value - 1),),
        Operator.LESS_OR_EQUAL: ((0, value),),
        Operator.GREATER: ((value + 1, UNSET),),
        Operator.GREATER_OR_EQUAL: ((value, UNSET),),
    }
    ranges = by_operator.get(test.operator)
    return None if ranges is None else _without_empty(*ranges)


def _without_empty(*ranges: tuple[int, int]) -> Ranges:
    return tuple((first, last) for first, last in ranges if first <= last)


def both(a: Ranges, b: Ranges) -> Ranges:
    """Return the numbers in both."""
    found = [
        (max(first, other_first), min(last, other_last))
        for first, last in a
        for other_first, other_last in b
    ]
    return _without_empty(*sorted(found))


def either(a: Ranges, b: Ranges) -> Ranges:
    """Return the numbers in one or both."""
    joined: list[tuple[int, int]] = []
    for first, last in sorted((*a, *b)):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(joined[-1][1], last))
        else:
            joined.append((first, last))
    return tuple(joined)


def allowed_values(field: str, conditions: Iterable[Condition]) -> Ranges:
    """Return the values that all conditions on a field allow, as far as they are ranges."""
    left = EVERYTHING
    for condition in conditions:
        if is_test(condition, field):
            ranges = ranges_of(condition)
            if ranges is not None:
                left = both(left, ranges)
    return left


def outside(ranges: Ranges) -> Ranges:
    """Return the numbers that are in none of the ranges."""
    edges = [(-1, -1), *ranges, (UNSET + 1, UNSET + 1)]
    return _without_empty(*((last + 1, first - 1) for (_, last), (first, _) in pairwise(edges)))
