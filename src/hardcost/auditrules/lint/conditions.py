"""What follows from a rule's conditions: that they can't all hold, or that one implies another.

Everything here is sound and not complete: what it says is so, and it may fail to say it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from hardcost.auditrules.kernelrule import (
    ATTRIBUTES,
    EXECUTE,
    READ,
    UNSET,
    WRITE,
    Comparison,
    Operator,
    Test,
)
from hardcost.auditrules.semantics import compare
from hardcost.auditrules.tables import lookup

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hardcost.auditrules.kernelrule import Condition

_OF_THE_CALL = frozenset({
    "auid", "uid", "euid", "suid", "fsuid", "sgid", "fsgid", "pid", "ppid", "sessionid", "pers",
    "exit", "a0", "a1", "a2", "a3", "saddr_fam", "arch", "success",
})  # fmt: skip
"""Fields of which a call has one number. gid and egid have the supplementary groups besides."""

_OF_ONE_FILE = frozenset({"obj_uid", "obj_gid", "inode"})
"""Fields of which a call has as many numbers as it visited files, and a file has one."""

_ONE_TEXT = frozenset({"subj_user", "subj_role", "subj_type"})
_SUCCESS, _FAILURE = 1, 2
_DOMAINS: dict[str, tuple[int, ...]] = {
    "arch": tuple(lookup.ARCH_NUMBERS.values()),
    "success": (_SUCCESS, _FAILURE),
}
_OPPOSITE = {
    Operator.EQUAL: Operator.NOT_EQUAL,
    Operator.NOT_EQUAL: Operator.EQUAL,
    Operator.LESS: Operator.GREATER_OR_EQUAL,
    Operator.GREATER_OR_EQUAL: Operator.LESS,
    Operator.GREATER: Operator.LESS_OR_EQUAL,
    Operator.LESS_OR_EQUAL: Operator.GREATER,
}
_BITS = frozenset({Operator.ANY_BIT, Operator.ALL_BITS})

_PERMISSION_SETS = (READ, WRITE, READ | WRITE, EXECUTE, ATTRIBUTES, WRITE | ATTRIBUTES)
"""All that one call can stand for: r and w by its flags or quotactl, w and a by link."""

_Bound = tuple[Operator, int]


@lru_cache(maxsize=1 << 16)
def contradiction(
    conditions: tuple[Condition, ...], *, one_file: bool = False
) -> tuple[Condition, ...]:
    """Return some of the conditions that can't hold together, none where they may.

    `one_file`: all are asked of one file that the call visited, as in an inode's bucket.
    """
    by_field: dict[str, list[Condition]] = {}
    for condition in conditions:
        by_field.setdefault(about(condition), []).append(condition)
    single = _OF_THE_CALL | _OF_ONE_FILE if one_file else _OF_THE_CALL
    for name, alike in by_field.items():
        if _clash(name, alike, single):
            return tuple(alike)
    return ()


@lru_cache(maxsize=1 << 16)
def implies(first: Condition, second: Condition) -> bool:
    """Say whether the second condition holds wherever the first does."""
    if first == second:
        return True
    if not (isinstance(first, Test) and isinstance(second, Test)):
        return False
    if about(first) != about(second):
        return False
    if first.field == "perm":
        return _bits(first) & ~_bits(second) == 0
    if second.operator not in _OPPOSITE or about(first) not in _OF_THE_CALL:
        return False
    return bool(contradiction((first, _negated(second))))


def about(condition: Condition) -> str:
    """Return what a condition is about; those about different things imply nothing."""
    if isinstance(condition, Comparison):
        return f"{condition.left} {condition.right}"
    return "auid" if condition.field == "loginuid_set" else condition.field


def _negated(test: Test) -> Test:
    return Test(test.field, _OPPOSITE[test.operator], test.value)


def _clash(name: str, alike: Sequence[Condition], single: frozenset[str]) -> bool:
    tests = [one for one in alike if isinstance(one, Test)]
    if len(tests) != len(alike):
        return not name.split(" ")[1].startswith("obj_") and _opposed(alike)
    if name == "perm":
        wanted = [_bits(test) for test in tests]
        return not any(all(have & want for want in wanted) for have in _PERMISSION_SETS)
    if any(isinstance(test.value, str) for test in tests):
        return _texts_clash(name, tests, single)
    if name in {"gid", "egid"}:
        return _opposed(tests)
    return name in single and not _possible(
        name, [bound for test in tests for bound in _bound(test)]
    )


def _opposed(alike: Sequence[Condition]) -> bool:
    """Say whether there is a condition and its very opposite."""
    held = {(_value(one), one.operator) for one in alike}
    return any(
        (value, _OPPOSITE[operator]) in held for value, operator in held if operator in _OPPOSITE
    )


def _value(condition: Condition) -> int | str:
    return condition.value if isinstance(condition, Test) else ""


def _texts_clash(name: str, tests: Sequence[Test], single: frozenset[str]) -> bool:
    if name not in single | _ONE_TEXT | {"gid", "egid"}:
        return False
    equals = {test.value for test in tests if test.operator is Operator.EQUAL}
    # Two names of users may be one user's, two types of a label never are one.
    return _opposed(tests) or (name in _ONE_TEXT and len(equals) > 1)


def _bound(test: Test) -> tuple[_Bound, ...]:
    """Return what a test demands of its field's number."""
    value = _bits(test)
    if test.field == "loginuid_set":
        if_set = compare(1, test.operator, value)
        if_unset = compare(0, test.operator, value)
        demands = {
            (True, True): (),
            (True, False): ((Operator.NOT_EQUAL, UNSET),),
            (False, True): ((Operator.EQUAL, UNSET),),
        }
        return demands.get(
            (if_set, if_unset), ((Operator.EQUAL, UNSET), (Operator.NOT_EQUAL, UNSET))
        )
    if test.field == "success":
        return ((test.operator, _SUCCESS if value else _FAILURE),)
    return ((test.operator, value),)


def _bits(test: Test) -> int:
    return test.value if isinstance(test.value, int) else 0


def _possible(name: str, bounds: Iterable[_Bound]) -> bool:
    """Say whether some number of 32 bits meets all demands; yes where that is not known."""
    bounds = [(operator, value & UNSET) for operator, value in bounds]
    candidates = _DOMAINS.get(name) or [v for o, v in bounds if o is Operator.EQUAL]
    if candidates:
        return any(
            all(compare(candidate, operator, value) for operator, value in bounds)
            for candidate in candidates
        )
    lowest, highest = 0, UNSET
    for operator, value in bounds:
        match operator:
            case Operator.LESS:
                highest = min(highest, value - 1)
            case Operator.LESS_OR_EQUAL:
                highest = min(highest, value)
            case Operator.GREATER:
                lowest = max(lowest, value + 1)
            case Operator.GREATER_OR_EQUAL:
                lowest = max(lowest, value)
    excluded = {v for o, v in bounds if o is Operator.NOT_EQUAL and lowest <= v <= highest}
    return highest - lowest + 1 > len(excluded)
