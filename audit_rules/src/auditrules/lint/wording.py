"""Rules in words: the calls of a mask, conditions, lists of names."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from hardcost.auditrules.kernelrule import ALL_CALLS
from hardcost.auditrules.lint.diagnostic import spot_of
from hardcost.auditrules.tables import lookup
from hardcost.auditrules.write import UnwritableError, condition_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hardcost.auditrules.kernelrule import Condition, KernelRule
    from hardcost.auditrules.lint.diagnostic import Spot
    from hardcost.auditrules.tables.lookup import Arch

_SHOWN = 8


@lru_cache(maxsize=4096)
def numbers(mask: int) -> tuple[int, ...]:
    """Return the calls of a mask by number, in order."""
    found = []
    while mask:
        lowest = mask & -mask
        found.append(lowest.bit_length() - 1)
        mask ^= lowest
    return tuple(found)


@lru_cache(maxsize=4096)
def mask_of(calls: Iterable[int]) -> int:
    """Return the mask of some calls."""
    mask = 0
    for call in calls:
        mask |= 1 << call
    return mask


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
    return mask_of(tuple(others[own[call]] for call in numbers(mask) if own.get(call) in others))


def named(mask: int, arch: Arch, most: int = _SHOWN) -> str:
    """Return the names of the calls of a mask, as prose lists them; at most `most` of them."""
    return listed([lookup.call_name(arch, call) for call in numbers(mask)], most)


def listed(names: list[str], most: int = _SHOWN) -> str:
    """Return names as prose lists them, at most `most` of them and how many there are more."""
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def deciding(rules: Iterable[KernelRule], most: int = 3) -> tuple[str, tuple[Spot, ...]]:
    """Return in words that the first of earlier rules decides, and where they all stand."""
    spots = tuple(spot_of(one.source) for one in rules)
    together = listed([str(spot) for spot in spots], most)
    return f"{together} {'decides' if len(spots) == 1 else 'decide'} first", spots


def said(condition: Condition) -> str:
    """Return a condition in words, such as `auid>=1000`, also where auditctl would not read it."""
    try:
        return condition_text(condition)
    except UnwritableError:
        return str(condition)
