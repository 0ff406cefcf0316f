"""Classes of calls that no rule distinguishes, and the rest of the rules for them.

For the calls of a class it is known whether a rule's mask contains them, what `arch` says, and
mostly what `perm` says. What remains is short, and often the same for both sets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from types import MappingProxyType

from auditrules.kernel.field_tests import class_permissions, compare
from auditrules.model.kernel_lists import by_rank
from auditrules.model.kernel_rule import (
    ALL_CALLS,
    CALLS,
    Action,
    Condition,
    FieldTest,
    FilterList,
    KernelRule,
    Operator,
)
from auditrules.tables import lookup
from auditrules.tables.lookup import Arch, Release

Source = int | str
"""Where a call's permissions come from: a number if they are known, or else one of these words:
`a1`, `a2` (flags of open in an argument), `flags` (of openat2), `bind` (socketcall's argument)."""

OPENED_FOR: tuple[int, int, int, int] = (4, 2, 6, 6)
"""The permissions that the low two bits of an open's flags stand for (`semantics`)."""

BOUND_FOR = 2
"""The permission of a socketcall that binds."""

_SYMBOLIC: Mapping[str, Source] = MappingProxyType(
    {"open": "a1", "openat": "a2", "openat2": "flags", "socketcall": "bind"}
)
_EXECUTE = 1  # AUDIT_PERM_EXEC
_KNOWN_ALWAYS = frozenset({"key"})  # no condition, though written as one
_KNOWN_NEVER = frozenset({"msgtype", "fstype"})  # of records and file systems, which no call is


@dataclass(frozen=True)
class RuleRest:
    """The rest of a rule for the calls of one class."""

    conditions: frozenset[Condition]
    always: bool
    key: str
    bucket: bool


RankedRules = tuple[tuple[int, RuleRest], ...]
"""Rules from the highest priority to the lowest, each with its index in its set."""


@dataclass(frozen=True)
class CallClass:
    """Calls that the rules of both sets treat alike; `calls` is a mask like a rule's."""

    arch: Arch
    calls: int
    source: Source
    a: RankedRules
    b: RankedRules


def classes(
    a: Sequence[KernelRule],
    b: Sequence[KernelRule],
    arches: Iterable[Arch],
    release: Release = lookup.OLDEST,
    *,
    keys: bool = True,
) -> Iterator[CallClass]:
    """Yield the classes of calls. Without `keys`, the rules' keys are left out.

    Of the calls above the mask's range, which no rule names, one represents all.
    """
    ranked_a, ranked_b = rank_rules(a), rank_rules(b)
    masks = sorted({a[index].mask for index in ranked_a} | {b[index].mask for index in ranked_b})
    for arch in arches:
        yield CallClass(arch, 1 << CALLS, 0, (), ())
        for source, calls in _sources(arch, release).items():
            left_of_a = _remaining_rules(a, ranked_a, arch, source, keys=keys)
            left_of_b = _remaining_rules(b, ranked_b, arch, source, keys=keys)
            for part in _split(calls, masks):
                yield CallClass(
                    arch, part, source, _parts(left_of_a, part), _parts(left_of_b, part)
                )


def rank_rules(rules: Sequence[KernelRule]) -> tuple[int, ...]:
    """Return the rules that calls are tested against, from the highest priority to the lowest."""
    return tuple(
        index
        for index in by_rank(rules)
        if rules[index].list is FilterList.EXIT or rules[index].in_a_bucket
    )


@cache
def _sources(arch: Arch, release: Release) -> Mapping[Source, int]:
    """Return where permissions come from, and a mask of the calls for which they do."""
    found: dict[Source, int] = {}
    rest = ALL_CALLS
    for number in {*lookup.call_names(arch), *lookup.classified_calls(arch, release)}:
        name = lookup.call_name(arch, number)
        source: Source = class_permissions(arch, number, release)
        source = _EXECUTE if name in {"execve", "execveat"} else _SYMBOLIC.get(name, source)
        if source != 0:
            found[source] = found.get(source, 0) | 1 << number
            rest &= ~(1 << number)
    return MappingProxyType({**found, 0: rest})


def _split(calls: int, masks: Iterable[int]) -> list[int]:
    parts = [calls]
    for mask in masks:
        parts = [piece for part in parts for piece in (part & mask, part & ~mask) if piece]
    return parts


@dataclass(frozen=True)
class _Left:
    """The rest of a rule for calls of one source, and one of its conditions, if there is any.

    The condition is a rare one, as far as that is easily found.
    """

    index: int
    mask: int
    part: RuleRest
    telling: Condition | None


def _remaining_rules(
    rules: Sequence[KernelRule], order: Sequence[int], arch: Arch, source: Source, *, keys: bool
) -> list[_Left]:
    """Return the rests of the rules that hold for some of the calls."""
    found: list[_Left] = []
    for index in order:
        rule = rules[index]
        conditions = _undecided_conditions(rule.conditions, arch, source)
        if conditions is not None:
            key, always = rule.key if keys else "", rule.action is Action.ALWAYS
            part = RuleRest(conditions, always, key, rule.in_a_bucket)
            found.append(_Left(index, rule.mask, part, max(conditions, key=_tells, default=None)))
    return found


def _tells(condition: Condition) -> bool:
    return isinstance(condition, FieldTest) and isinstance(condition.value, str)


def _parts(left: Iterable[_Left], calls: int) -> RankedRules:
    """Return the rules for the calls of a class, without those that earlier ones pre-empt."""
    found: list[tuple[int, RuleRest]] = []
    known: dict[Condition | None, list[RuleRest]] = {}
    for one in left:
        part = one.part
        if not one.mask & calls or any(
            # A rule in a bucket is tried on files alone, so it pre-empts none on the list.
            earlier.conditions <= part.conditions and (part.bucket or not earlier.bucket)
            for condition in part.conditions
            for earlier in known.get(condition, ())
        ):
            continue
        found.append((one.index, part))
        if not part.conditions:  # it decides about all calls that get here
            break
        known.setdefault(one.telling, []).append(part)
    return tuple(found)


def _undecided_conditions(
    conditions: Iterable[Condition], arch: Arch, source: Source
) -> frozenset[Condition] | None:
    """Return the conditions that are not known to hold; None if one is known not to."""
    left: set[Condition] = set()
    for condition in conditions:
        known = (
            _known_result(condition, arch, source)
            if isinstance(condition, FieldTest)
            else condition
        )
        if known is False:
            return None
        if known is not True:
            left.add(known)
    return frozenset(left)


def _known_result(test: FieldTest, arch: Arch, source: Source) -> bool | Condition:
    if test.field in _KNOWN_ALWAYS:
        return True
    if test.field in _KNOWN_NEVER:
        return False
    if not isinstance(test.value, int):
        return test
    if test.field == "arch":
        return compare(lookup.ARCH_NUMBERS[arch], test.operator, test.value)
    if test.field == "perm" and test.operator is Operator.EQUAL:
        return _known_permission(test.value, source)
    return test


def _known_permission(wanted: int, source: Source) -> bool | Condition:
    if isinstance(source, int):
        return bool(source & wanted)
    if source == "bind":
        return FieldTest("perm", Operator.EQUAL, BOUND_FOR) if wanted & BOUND_FOR else False
    granted = [bool(access & wanted) for access in OPENED_FOR]
    if all(granted):
        return True
    if not any(granted):
        return False
    # The flags of an open decide between reading and writing; the other permissions never hold.
    return FieldTest("perm", Operator.EQUAL, wanted & OPENED_FOR[-1])


def in_any_order(rules: RankedRules) -> tuple[RuleRest, ...]:
    """Return the rules with those sorted whose mutual order does not matter.

    Neighbours with the same action and key may be swapped within the exit list and within buckets:
    the result is the same.
    """
    sorted_rules: list[RuleRest] = []
    run: list[RuleRest] = []
    for _, part in rules:
        if run and (run[0].always, run[0].key, run[0].bucket) != (
            part.always,
            part.key,
            part.bucket,
        ):
            sorted_rules.extend(sorted(run, key=_sort_key))
            run = []
        run.append(part)
    sorted_rules.extend(sorted(run, key=_sort_key))
    return tuple(sorted_rules)


def _sort_key(part: RuleRest) -> list[str]:
    return sorted(map(_text, part.conditions))


@lru_cache(maxsize=1 << 14)
def _text(condition: Condition) -> str:
    return repr(condition)
