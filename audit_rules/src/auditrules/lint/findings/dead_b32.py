"""A rule is for 32-bit calls, but 32-bit entry is off.

What: The rule tests arch=b32 on a machine where no program can make 32-bit calls (a kernel without
IA32_EMULATION, or from Linux 6.7 on ia32_emulation=0). Only --no-b32 enables this check.

Why: The rule never fires, but is not free: every 64-bit call passes over it, and those with the
same number as one of its calls test the architecture each time.

Example:
    -a always,exit -F arch=b32 -S mount -k export

Remedy: Delete the rule, as long as 32-bit entry stays off.
"""

from __future__ import annotations

from collections.abc import Iterable

from auditrules.lint import prices
from auditrules.lint.context import Context, arch_of, column_of
from auditrules.lint.diagnostic import Diagnostic, Level, location_of
from auditrules.model.kernel_rule import FilterList

CODE = "dead-b32"
LEVEL = Level.WARNING


def find(context: Context) -> Iterable[Diagnostic]:
    """Yield each rule for 32-bit calls where there are none."""
    if context.options.b32:
        return
    for rule in context.rules:
        if rule.list is FilterList.EXIT and arch_of(rule) == "b32":
            yield Diagnostic(
                CODE,
                LEVEL,
                "it never fires: it is for 32-bit calls, which no program can make",
                location_of(rule.source, column_of(rule.source, "arch=")),
                rule.source.text if rule.source else "",
                "delete the rule",
                prices.cost_of_passing(context, rule),
            )
