"""The `never` rule in front of all others, for the calls that no other rule names.

It is not equivalent to no rule (see `GIVES_UP`), so it is optional.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from auditrules.model.kernel_rule import (
    Action,
    FieldTest,
    FilterList,
    KernelRule,
    Operator,
    mask_of,
)
from auditrules.optimize.lines import Candidate
from auditrules.optimize.prices import Prices
from auditrules.optimize.reachable_calls import reach_of_any
from auditrules.tables import lookup
from auditrules.tables.lookup import Arch

NEVER_FIRST = "never, for calls that no rule below names"

GIVES_UP = (
    "If another part of the kernel, such as a denial by SELinux or AppArmor, requests the record of"
    " a call that the `never` rule names, the record of the call (SYSCALL, PATH, CWD, PROCTITLE) is"
    " not written. The denial's own record (AVC) still is."
)
"""The records that a set with such a rule no longer makes (AS:2518)."""


def in_front(
    lines: Sequence[Candidate], ranked: Sequence[KernelRule], prices: Prices, *, b32: bool
) -> tuple[Candidate, ...]:
    """Return the lines with `never` rules in front of those of the exit list, where that pays.

    `ranked` are the rules whose indices the lines name: calls that they may record under a later
    release are spared too. There are at most two rules: one for numbers that no rule names in
    either ABI, and one for 64-bit calls whose number is that of a 32-bit call that a rule names.
    """
    at = next(
        (number for number, line in enumerate(lines) if not line.rule.in_a_bucket), len(lines)
    )
    above, below = tuple(lines[:at]), tuple(lines[at:])
    if not below:
        return tuple(lines)
    asked = [rule for line in below for rule in (line.rule, *(ranked[at] for at in line.origins))]
    either = _rule(asked, None, b32=b32)
    own = _rule(asked, "b64", b32=b32)
    beside = replace(own, mask=own.mask & ~either.mask)
    tried = [(), (either,), (own,)]
    if b32 and beside.mask:
        tried.append((either, beside))
    tried = [rules for rules in tried if all(rule.mask for rule in rules)]

    def total(rules: tuple[KernelRule, ...]) -> float:
        costs = prices.of_set([line.rule for line in (*above, *_lines(rules), *below)])
        return sum(costs[case.event.arch, case.event.call] * case.weight for case in prices.typical)

    best = min(tried, key=total)
    return (*above, *_lines(best), *below)


def _lines(rules: tuple[KernelRule, ...]) -> tuple[Candidate, ...]:
    return tuple(Candidate(rule, (), (NEVER_FIRST,)) for rule in rules)


def _rule(asked: Sequence[KernelRule], arch: Arch | None, *, b32: bool) -> KernelRule:
    """Return the `never` rule over the calls of an ABI, or both, that no rule can match."""
    mask = 0
    for named in lookup.ARCHES if arch is None and b32 else ("b64",):
        mask |= mask_of(lookup.calls(named).values())
    for rule in asked:
        calls = reach_of_any(rule, b32=b32)
        mask &= ~(calls.numbers if arch is None else calls.of(arch))
    conditions = (
        () if arch is None else (FieldTest("arch", Operator.EQUAL, lookup.ARCH_NUMBERS[arch]),)
    )
    return KernelRule(FilterList.EXIT, Action.NEVER, mask, conditions)
