"""Two answers of what the hardening in force on a machine costs, joined item by item."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator

from hardcost.model.finding.here import HereFinding, HereItem
from hardcost.model.finding.here_comparison import HereChange, HereComparison, HereSide

_CLOSE = 1e-9  # a share of a cost that the order of additions can make
_UNKNOWN_MIX = (
    "both were averaged over calls that were counted, and the answers don't say whether these were"
    " the same"
)

_Key = tuple[str, int]


def compare_answers(before: HereFinding, after: HereFinding) -> HereComparison:
    """Return what changed from one answer to another."""
    one, other = _by_key(before.items), _by_key(after.items)
    both = [_change(item, other[key]) for key, item in one.items() if key in other]
    return HereComparison(
        before=_side(before),
        after=_side(after),
        incomparable=tuple(_incomparable(before, after)),
        difference=after.share - before.share,
        added=tuple(sorted((other[key] for key in other.keys() - one.keys()), key=_dearest_first)),
        removed=tuple(sorted((one[key] for key in one.keys() - other.keys()), key=_dearest_first)),
        repriced=_ordered(it for it in both if it.was_default == it.by_default and _differs(it)),
        became_default=_ordered(it for it in both if it.by_default and not it.was_default),
        no_longer_default=_ordered(it for it in both if it.was_default and not it.by_default),
        unseen_before=tuple(it for it in before.unseen if it not in after.unseen),
        unseen_after=tuple(it for it in after.unseen if it not in before.unseen),
        notes=(_UNKNOWN_MIX,) if before.mix == after.mix and after.mix_by == "file" else (),
    )


def _by_key(items: Iterable[HereItem]) -> dict[_Key, HereItem]:
    """Return items by their ids, and by their number among those of the same id."""
    seen: Counter[str] = Counter()
    found: dict[_Key, HereItem] = {}
    for one in items:
        found[one.id, seen[one.id]] = one
        seen[one.id] += 1
    return found


def _side(found: HereFinding) -> HereSide:
    return HereSide(
        machine=found.machine,
        kernel=found.kernel,
        priced_on=found.priced_on,
        mix=found.mix,
        share=found.share,
        first_rule=found.first_rule,
        not_accepted=found.not_accepted,
    )


def _incomparable(before: HereFinding, after: HereFinding) -> Iterator[str]:
    if before.priced_on != after.priced_on:
        yield f"prices were of Linux {before.priced_on}, and are of {after.priced_on}"
    if before.mix != after.mix:
        yield f"costs were averaged over {before.mix}, and are over {after.mix}"


def _change(before: HereItem, after: HereItem) -> HereChange:
    return HereChange(
        id=after.id,
        kind=after.kind,
        name=after.name,
        place=after.place,
        before=before.share,
        after=after.share,
        was_default=before.by_default,
        by_default=after.by_default,
        why=after.why or before.why,
    )


def _differs(one: HereChange) -> bool:
    if one.before is None or one.after is None:
        return one.before is not one.after
    return not math.isclose(one.before, one.after, rel_tol=_CLOSE, abs_tol=_CLOSE)


def _ordered(changes: Iterable[HereChange]) -> tuple[HereChange, ...]:
    """Return changes, those that differ most first, and what has no price last."""
    return tuple(sorted(changes, key=lambda one: (not _is_known(one), -_size(one), one.name)))


def _is_known(one: HereChange) -> bool:
    return one.before is not None and one.after is not None


def _size(one: HereChange) -> float:
    return abs((one.after or 0.0) - (one.before or 0.0))


def _dearest_first(one: HereItem) -> tuple[bool, bool, float, str, str]:
    share = one.share or 0.0
    return (one.by_default, one.share is None, -share, one.name, one.id)
