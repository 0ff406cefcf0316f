"""Rules differ only in their calls.

What: Several rules have the same list, action, conditions and key, and name different calls.

Why: A call that none of them names passes over each of them; it would pass over one merged rule
once. What is recorded stays the same, unless a rule between them decides first about one of the
calls.

Example:
    -a always,exit -F arch=b64 -S init_module -k modules
    -a always,exit -F arch=b64 -S delete_module -k modules

Remedy: Write one rule with all calls: `-S init_module,delete_module`. `hardcost rules optimize`
does so where it can prove that nothing changes.
"""

from __future__ import annotations

from collections.abc import Iterable

from auditrules.lint import prices
from auditrules.lint.context import Context
from auditrules.lint.diagnostic import Diagnostic, Level, location_of
from auditrules.model.kernel_rule import KernelRule

CODE = "mergeable"
LEVEL = Level.NOTE


def find(context: Context) -> Iterable[Diagnostic]:
    """Yield each group of rules that differ only in their calls, at its first rule."""
    groups: dict[tuple[object, ...], list[KernelRule]] = {}
    for rule in context.walked:
        same = (rule.action, frozenset(rule.conditions), rule.key, rule.prepend)
        groups.setdefault(same, []).append(rule)
    for rules in groups.values():
        if len(rules) == 1:
            continue
        first, *others = rules
        count = f"{len(others)} other rules" if len(others) > 1 else "another rule"
        yield Diagnostic(
            CODE,
            LEVEL,
            f"{count} differs from it only in the calls"
            if len(others) == 1
            else f"{count} differ from it only in the calls",
            location_of(first.source),
            first.source.text if first.source else "",
            "write one rule with all their calls after -S",
            prices.cost_of_passing(context, first, len(others)),
            tuple(location_of(rule.source) for rule in others),
        )
