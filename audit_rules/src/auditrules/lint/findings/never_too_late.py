"""A never rule comes after the rules from which it is an exception.

What: Rules before it record calls that it names, and no rule after it records any that it could
match. `-A` puts a rule before all others.

Why: The first rule that matches decides, so this one keeps nothing from being recorded; it only
costs. (It still drops the SYSCALL record that goes with a denial by a security module.)

Example:
    -w /etc/ -p wa -k etc
    -a never,exit -F exe=/usr/sbin/sshd

Remedy: Put it before the rules from which it is an exception, or write -A.
"""

from __future__ import annotations

from collections.abc import Iterable

from auditrules.kernel.conditions import contradiction
from auditrules.kernel.field_tests import arches_of
from auditrules.lint import prices, wording
from auditrules.lint.context import Context, column_of
from auditrules.lint.diagnostic import Diagnostic, Level, location_of
from auditrules.model.kernel_rule import Action, FilterList, KernelRule

CODE = "never-too-late"
LEVEL = Level.WARNING

_MOST_COMPARED = 1_000_000
"""Pairs of rules, from the last `never`: more than there are in any set written by hand."""


def find(context: Context) -> Iterable[Diagnostic]:
    """Yield each rule that is an exception from earlier rules alone."""
    rules = [one for one in context.by_rank if one.list is FilterList.EXIT]
    recording = [(at, one) for at, one in enumerate(rules) if one.action is Action.ALWAYS]
    judged = [(at, one) for at, one in enumerate(rules) if one.action is Action.NEVER]
    most = max(_MOST_COMPARED // max(len(recording), 1), 1)
    for at, rule in judged[-most:]:
        # Of two files that a call visits, the first decides, whichever rule stands before.
        later = (
            one
            for other, one in reversed(recording)
            if other > at or (rule.in_a_bucket and one.in_a_bucket)
        )
        if any(_meet(rule, one) for one in later):
            continue
        earlier = [one for other, one in recording if other < at and _meet(rule, one)]
        if earlier:
            yield _diagnostic(context, rule, earlier)


def _diagnostic(context: Context, rule: KernelRule, earlier: list[KernelRule]) -> Diagnostic:
    first, spots = wording.deciding_words(earlier)
    return Diagnostic(
        CODE,
        LEVEL,
        f"it keeps nothing from being recorded: {first}, and no later rule records what it names",
        location_of(rule.source, column_of(rule.source, "-a")),
        rule.source.text if rule.source else "",
        "put it before them, or write -A",
        prices.cost_of_passing(context, rule),
        spots,
    )


def _meet(rule: KernelRule, other: KernelRule) -> bool:
    """Say whether one call may match both."""
    return (
        bool(rule.mask & other.mask)
        and not set(arches_of(rule)).isdisjoint(arches_of(other))
        and not contradiction((*rule.conditions, *other.conditions))
    )
