"""Two lists that have most rules in common, compared by the others alone.

Both lists have the common rules in the same order, and further rules between them. What they say
of an event: let c be the first common rule that holds for it. Then the first of the further rules
before c that holds decides, and c if none does. So the lists agree if the further rules by
themselves agree, about every event, and if moreover, where a common rule holds, those before it
agree on both sides. That is so for a common rule

- if no other comes before it, or none after it;
- if no rule after it holds together with it: then those before it agree as all do;
- if no rule before it holds together with it: then none of them decides;
- or else if those before it agree by themselves.

Further rules with the verdict of the common rule may hold together with it. Common rules in buckets
have no verdict: they only ask whether any rule before them holds.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from auditrules.kernel.conditions import contradiction, follows
from auditrules.prove.call_classes import RuleRest

TwoLists = tuple[tuple[RuleRest, ...], tuple[RuleRest, ...]]
"""Rules of one list and of the other, in their order."""


@dataclass(frozen=True)
class _Placed:
    """A rule, and how many rules that are common from the start come before it."""

    part: RuleRest
    place: int


def changed_rules(a: Sequence[RuleRest], b: Sequence[RuleRest]) -> list[TwoLists] | None:
    """Return rules such that two lists agree if each pair does; None if none are known.

    Each pair has to agree by itself about every event: always or never, with which key, or nothing.
    """
    common = _in_one_order(a, b)
    if common is None:
        return None
    sides = [_further(one, common) for one in (a, b)]
    if any(one.part.bucket for side in sides for one in side):
        return None
    sides = [[one for one in side if not _is_late(one, common)] for side in sides]
    # A rule may be gone because a later one says the same: that one then counts as changed.
    heirs = {heir for side in sides for one in side for heir in _heirs(one, common)}
    more = [_Placed(common[place], place) for place in heirs]
    left, right = (sorted([*side, *more], key=lambda one: one.place) for side in sides)
    places = {
        place
        for place, part in enumerate(common)
        if place not in heirs and not _is_passed(_Placed(part, place), (*left, *right))
    }
    return list(
        dict.fromkeys(
            (_before(left, place), _before(right, place))
            for place in (len(common), *sorted(places))
        )
    )


def _before(rules: Iterable[_Placed], place: int) -> tuple[RuleRest, ...]:
    return tuple(one.part for one in rules if one.place <= place)


def _in_one_order(a: Sequence[RuleRest], b: Sequence[RuleRest]) -> list[RuleRest] | None:
    """Return the most rules that both lists have in the same order; None if a list repeats one."""
    places = {part: place for place, part in enumerate(a)}
    if len(places) < len(a) or len(set(b)) < len(b):
        return None
    # The longest increasing sequence: for each length, the least place at which one ends.
    ends: list[int] = []
    before: dict[int, int | None] = {}
    for place in (places[part] for part in b if part in places):
        length = bisect_left(ends, place)
        before[place] = ends[length - 1] if length else None
        ends[length : length + 1] = [place]
    found: list[RuleRest] = []
    at = ends[-1] if ends else None
    while at is not None:
        found.append(a[at])
        at = before[at]
    return found[::-1]


def _further(rules: Iterable[RuleRest], common: Iterable[RuleRest]) -> list[_Placed]:
    """Return the rules of a list that are not common."""
    known, place = set(common), 0
    found: list[_Placed] = []
    for part in rules:
        if part in known:
            place += 1
        else:
            found.append(_Placed(part, place))
    return found


def _is_late(one: _Placed, common: Sequence[RuleRest]) -> bool:
    """Say whether a common rule before a rule holds wherever that does."""
    return any(_holds_with(earlier, one.part) for earlier in common[: one.place])


def _heirs(one: _Placed, common: Sequence[RuleRest]) -> Iterable[int]:
    """Yield the next common rule that holds wherever a rule does, with the same verdict."""
    for place in range(one.place, len(common)):
        later = common[place]
        if _verdict(later) == _verdict(one.part) and _holds_with(later, one.part):
            yield place
            return


def _holds_with(wide: RuleRest, narrow: RuleRest) -> bool:
    """Say whether a rule of the exit list surely holds wherever another does."""
    given = tuple(narrow.conditions)
    return not wide.bucket and all(follows(condition, given) for condition in wide.conditions)


def _verdict(part: RuleRest) -> tuple[bool, str] | None:
    return None if part.bucket else (part.always, part.key)


def _is_passed(common: _Placed, changed: Iterable[_Placed]) -> bool:
    """Say whether the changed rules before a common one surely agree where that one holds."""
    before: list[RuleRest] = []
    behind: list[RuleRest] = []
    for one in changed:
        if _verdict(one.part) != _verdict(common.part):
            (before if one.place <= common.place else behind).append(one.part)
    return _are_apart(common.part, behind) or _are_apart(common.part, before)


def _are_apart(common: RuleRest, others: Iterable[RuleRest]) -> bool:
    """Say whether none of the others ever holds together with a rule."""
    return all(contradiction((*common.conditions, *other.conditions)) for other in others)
