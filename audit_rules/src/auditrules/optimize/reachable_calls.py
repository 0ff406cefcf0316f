"""Which calls a rule can match at all, by number and ABI: from its mask, `arch` and `perm`."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import NamedTuple

from auditrules.kernel.field_tests import class_permissions, compare
from auditrules.model.kernel_rule import ALL_CALLS, EXECUTE, READ, WRITE, FieldTest, KernelRule
from auditrules.tables import lookup
from auditrules.tables.lookup import NEWEST, OLDEST, RELEASES, Arch, Release

_OPENS = frozenset({"open", "openat", "openat2"})
_EXECUTES = frozenset({"execve", "execveat"})


class ReachableCalls(NamedTuple):
    """Calls of each ABI, as masks like a rule's."""

    b64: int
    b32: int

    def of(self, arch: Arch) -> int:
        """Return the calls of one ABI."""
        return self.b64 if arch == "b64" else self.b32

    @property
    def numbers(self) -> int:
        """The numbers of the calls in either ABI."""
        return self.b64 | self.b32

    def meets(self, other: ReachableCalls) -> bool:
        """Say whether there is a call in both."""
        return bool(self.b64 & other.b64 or self.b32 & other.b32)

    def within(self, other: ReachableCalls) -> bool:
        """Say whether all calls are in the other too."""
        return not (self.b64 & ~other.b64 or self.b32 & ~other.b32)


@lru_cache(maxsize=1 << 16)
def reach(rule: KernelRule, *, b32: bool = True, release: Release = OLDEST) -> ReachableCalls:
    """Return the calls that the rule's mask, `arch` and `perm` let through, under a release.

    Without `b32` there are no calls of that ABI.
    """
    through = _through(rule, "b32", release) if b32 else 0
    return ReachableCalls(_through(rule, "b64", release), through)


def _through(rule: KernelRule, arch: Arch, release: Release) -> int:
    mask = rule.mask
    for test in rule.conditions:
        if not isinstance(test, FieldTest) or not isinstance(test.value, int):
            continue
        if test.field == "arch":
            if not compare(lookup.ARCH_NUMBERS[arch], test.operator, test.value):
                return 0
        elif test.field == "perm":
            mask &= may_stand_for(arch, test.value, release)
    return mask


@cache
def may_stand_for(arch: Arch, permissions: int, release: Release = OLDEST) -> int:
    """Return the calls that can have one of the permissions (r 4, w 2, x 1, a 8)."""

    def may(name: str, number: int) -> bool:
        return bool(_possible(arch, name, number, release) & permissions)

    return _mask(arch, release, may)


@cache
def always_stand_for(arch: Arch, permissions: int, release: Release = OLDEST) -> int:
    """Return the calls that have one of the permissions whatever their arguments."""

    def always(name: str, number: int) -> bool:
        if name in _OPENS:  # for reading, for writing, or both
            return permissions & (READ | WRITE) == READ | WRITE
        possible = _possible(arch, name, number, release)
        return name != "socketcall" and bool(possible & permissions)

    return _mask(arch, release, always)


def _possible(arch: Arch, name: str, number: int, release: Release) -> int:
    """Return the permissions that a call can have."""
    if name in _OPENS:
        return READ | WRITE
    if name in _EXECUTES:
        return EXECUTE
    if name == "socketcall":
        return WRITE
    return class_permissions(arch, number, release)


def _mask(arch: Arch, release: Release, wanted: Callable[[str, int], bool]) -> int:
    found = 0
    for number in {*lookup.call_names(arch), *lookup.classified_calls(arch, release)}:
        if wanted(lookup.call_name(arch, number), number):
            found |= 1 << number
    return found & ALL_CALLS


def releases_of(*rules: KernelRule) -> tuple[Release, ...]:
    """Return the releases under which rules may reach different calls: only one without `perm`."""
    tested = any(rule.tests("perm") for rule in rules)
    return RELEASES if tested else RELEASES[:1]


def reach_of_any(rule: KernelRule, *, b32: bool = True) -> ReachableCalls:
    """Return the calls that the rule lets through under any release; later ones assign more."""
    return reach(rule, b32=b32, release=NEWEST)
