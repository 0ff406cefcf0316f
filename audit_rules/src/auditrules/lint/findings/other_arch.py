"""A rule is for another architecture, and is not checked.

What: The rule tests `arch` for another architecture than x86-64, whose ABIs are b64 and b32. No
other diagnostic is about such a rule, and no prediction or proof includes it.

Why: hardcost knows the system calls of x86-64 alone. There, auditctl may load the rule, which never
fires, while every call passes over it.

Example:
    -a always,exit -F arch=aarch64 -S openat -F exit=-EACCES -k access

Remedy: Check the rule on such a machine, and leave it out of the rules for x86-64.
"""

from __future__ import annotations

from collections.abc import Iterable

from auditrules.lint.context import Context
from auditrules.lint.diagnostic import Diagnostic, Level, of_fault
from auditrules.load.load import Fate

CODE = "other-arch"
LEVEL = Level.NOTE


def find(context: Context) -> Iterable[Diagnostic]:
    """Yield each rule for another architecture."""
    for line in context.loaded.of(Fate.ELSEWHERE):
        fault = line.fault
        if fault is not None:
            yield of_fault(CODE, LEVEL, fault, context.texts)
