"""Rules that cost without firing, found by their form alone, so that each claim is certain.

A complete search for shadowed rules would need a prover; these claims do not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice

from auditrules.kernel.semantics import Loaded
from auditrules.model.kernel_rule import Condition, FieldTest, FilterList, KernelRule, Operator
from auditrules.model.subsets import MOST_LOOKED_AT, Subsets
from auditrules.tables import lookup

_ONE_VALUED = frozenset({
    "arch", "uid", "euid", "suid", "fsuid", "auid", "sgid", "fsgid", "pid", "ppid", "sessionid",
    "pers", "exit", "a0", "a1", "a2", "a3",
})  # fmt: skip
"""Fields of which a call has exactly one value, so that it equals no two."""


class IdleKind(StrEnum):
    """Why a rule costs without firing."""

    SHADOWED = "shadowed"
    """An earlier rule decides about every call that this one could match: it never fires."""
    CONTRADICTION = "contradiction"
    """Two of its conditions exclude each other: it never fires."""
    FOREIGN = "foreign"
    """It is tested on calls of the other architecture that have the same number, in vain."""


@dataclass(frozen=True)
class Waste:
    """One reason; `by` is the shadowing rule, `calls` are the calls that pay in vain."""

    kind: IdleKind
    by: int | None = None
    calls: tuple[str, ...] = ()


def waste_by_rule(loaded: Loaded) -> dict[int, tuple[Waste, ...]]:
    """Return why rules cost without firing, by index among those loaded."""
    found: dict[int, tuple[Waste, ...]] = {}
    shadowed = _find_shadowed(loaded)
    for index, rule in enumerate(loaded.rules):
        if rule.list is not FilterList.EXIT:
            continue
        reasons = (*shadowed.get(index, ()), *_contradicts(rule), *_foreign(rule))
        if reasons:
            found[index] = reasons
    return found


def _find_shadowed(loaded: Loaded) -> dict[int, tuple[Waste, ...]]:
    """Return the earlier rule of the exit list that matches whatever a rule does.

    A rule in a bucket is outranked by such a rule. One in a bucket shadows nothing for sure: its
    place changes when the watched file is replaced.
    """
    found: dict[int, tuple[Waste, ...]] = {}
    in_order = sorted(
        (index for index, rule in enumerate(loaded.rules) if rule.list is FilterList.EXIT),
        key=lambda index: -loaded.priority[index],
    )
    often = Counter(one for index in in_order for one in loaded.rules[index].conditions)
    sets = Subsets[Condition](often.__getitem__)
    before: dict[frozenset[Condition], list[int]] = {}
    places: dict[frozenset[Condition], int] = {}
    for index in in_order:
        rule = loaded.rules[index]
        own = frozenset(rule.conditions)
        held = sorted(sets.within(dict.fromkeys(rule.conditions).keys()), key=places.__getitem__)
        earlier = islice((at for one in held for at in before[one]), MOST_LOOKED_AT)
        by = next((at for at in earlier if not rule.mask & ~loaded.rules[at].mask), None)
        if by is not None:
            found[index] = (Waste(IdleKind.SHADOWED, by=by),)
        elif not rule.in_a_bucket:
            if own not in before:
                sets.add(rule.conditions)
                places[own] = len(places)
            before.setdefault(own, []).append(index)
    return found


def _contradicts(rule: KernelRule) -> Iterator[Waste]:
    values: dict[str, int | str] = {}
    for test in rule.conditions:
        if not isinstance(test, FieldTest) or test.operator is not Operator.EQUAL:
            continue
        if test.field in _ONE_VALUED and values.setdefault(test.field, test.value) != test.value:
            yield Waste(IdleKind.CONTRADICTION)
            return


def _foreign(rule: KernelRule) -> Iterator[Waste]:
    """Yield the calls of b64 whose number a b32 rule names (the number is tested first)."""
    b32 = FieldTest("arch", Operator.EQUAL, lookup.ARCH_NUMBERS["b32"])
    if b32 in rule.conditions:
        names = tuple(
            name for number, name in sorted(lookup.call_names("b64").items()) if rule.names(number)
        )
        if names:
            yield Waste(IdleKind.FOREIGN, calls=names)
