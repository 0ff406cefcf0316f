"""The same rule is already loaded.

What: An earlier line makes exactly the same rule: list, action, calls, conditions in their order,
key.

Why: The kernel refuses the second rule ("Rule exists"), and auditctl stops there unless -i or -c
has it continue: the lines below are then missing.

Example:
    -w /etc/passwd -p wa -k identity
    -a always,exit -F path=/etc/passwd -F perm=wa -k identity

Remedy: Delete one of the two lines.
"""

from __future__ import annotations

from collections.abc import Iterable

from auditrules.lint.context import Context
from auditrules.lint.diagnostic import Diagnostic, Level, location_of

CODE = "duplicate-rule"
LEVEL = Level.ERROR


def find(context: Context) -> Iterable[Diagnostic]:
    """Yield each rule that is already loaded."""
    for rule, earlier in context.loaded.twice:
        there = location_of(earlier.source)
        yield Diagnostic(
            CODE,
            LEVEL,
            f"the kernel refuses the rule: {there} has loaded the same one",
            location_of(rule.source),
            rule.source.text if rule.source else "",
            "delete one of the two lines",
            related=(there,),
        )
