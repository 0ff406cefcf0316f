"""A costly condition is tested before a cheap one.

What: A condition that takes many instructions (`exe`, `dir`, `perm`, -C …) stands before one that
takes few, as measured on the kernel.

Why: The kernel tests conditions in order and stops at the first that fails. Even calls that the
cheap condition would reject pay for those in front of it. The order never changes what a rule
matches.

Example:
    -a always,exit -F arch=b64 -S openat -F exe=/usr/bin/vim -F exit=-EACCES -k denied

Remedy: Put cheap conditions first, and among them those that fail most often. `arch` must stay
before -S.
"""

from __future__ import annotations

from collections.abc import Iterable

from auditrules.lint import prices, wording
from auditrules.lint.context import Context
from auditrules.lint.diagnostic import Cost, Diagnostic, Level, location_of
from auditrules.model.kernel_rule import Condition, KernelRule

CODE = "costly-order"
LEVEL = Level.NOTE

_WORTH_TELLING = 10
"""Instructions between two conditions from which their order is reported: half of what passing over
a whole rule takes."""


def find(context: Context) -> Iterable[Diagnostic]:
    """Yield each rule that tests a costly condition before a cheap one."""
    for rule in context.walked:
        pair = _worst_pair(context, rule)
        if pair is None:
            continue
        costly, cheap, spared = pair
        yield Diagnostic(
            CODE,
            LEVEL,
            f"{wording.condition_words(costly)} is tested before {wording.condition_words(cheap)},"
            " which is cheaper",
            location_of(rule.source),
            rule.source.text if rule.source else "",
            f"put {wording.condition_words(cheap)} before {wording.condition_words(costly)}",
            Cost(
                spared,
                f"on each call that reaches it and that {wording.condition_words(cheap)} rejects",
            ),
        )


def _worst_pair(context: Context, rule: KernelRule) -> tuple[Condition, Condition, float] | None:
    """Return the pair in the wrong order that spares most, with the saving."""
    found: tuple[Condition, Condition, float] | None = None
    costliest: tuple[Condition, float] | None = None
    for condition in rule.conditions:
        cost = prices.cost_of_testing(context, condition)
        if cost is None:
            continue
        if costliest and costliest[1] - cost >= _WORTH_TELLING:
            spared = costliest[1]
            if found is None or spared > found[2]:
                found = (costliest[0], condition, spared)
        if costliest is None or cost > costliest[1]:
            costliest = (condition, cost)
    return found
