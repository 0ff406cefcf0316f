"""Rules in words: the calls of a mask, conditions, lists of names."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from auditrules.auditctl.write import UnwritableRuleError, condition_text
from auditrules.lint.diagnostic import location_of
from auditrules.model.kernel_rule import ALL_CALLS, Condition, KernelRule, bits, mask_of
from auditrules.model.location import Location
from auditrules.tables import lookup
from auditrules.tables.lookup import Arch

_SHOWN = 8


def is_all(mask: int) -> bool:
    """Say whether a mask is that of `-S all`."""
    return mask & ALL_CALLS == ALL_CALLS


@lru_cache(maxsize=4096)
def in_other(mask: int, arch: Arch) -> int:
    """Return the mask of the same calls, by name, in the other ABI; without those it lacks."""
    if is_all(mask):
        return ALL_CALLS
    other: Arch = "b32" if arch == "b64" else "b64"
    own, others = lookup.call_names(arch), lookup.calls(other)
    return mask_of(tuple(others[own[call]] for call in bits(mask) if own.get(call) in others))


def calls_in_words(mask: int, arch: Arch, most: int = _SHOWN) -> str:
    """Return the names of the calls of a mask, as prose lists them; at most `most` of them."""
    return list_names([lookup.call_name(arch, call) for call in bits(mask)], most)


def list_names(names: list[str], most: int = _SHOWN) -> str:
    """Return names as prose lists them, at most `most` of them and how many there are more."""
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def deciding_words(rules: Iterable[KernelRule], most: int = 3) -> tuple[str, tuple[Location, ...]]:
    """Return in words that the first of earlier rules decides, and where they all stand."""
    spots = tuple(location_of(one.source) for one in rules)
    together = list_names([str(spot) for spot in spots], most)
    return f"{together} {'decides' if len(spots) == 1 else 'decide'} first", spots


def condition_words(condition: Condition) -> str:
    """Return a condition in words, such as `auid>=1000`, also where auditctl would not read it."""
    try:
        return condition_text(condition)
    except UnwritableRuleError:
        return str(condition)
