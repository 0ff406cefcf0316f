"""Every system call has to try a rule.

What: The rule is in the list that each call walks, and names all calls: a tree (`dir`, `-w` of a
directory), a program (`exe`), or conditions such as exit=-EINVAL without -S. A watch on a file is
different: only calls that touch the file try it.

Why: Each call of each program tests the rule's first conditions, whatever the call is. The cost
grows with the number of such rules, and falls on programs that have nothing to do with them.

Example:
    -a always,exit -F dir=/etc -F perm=wa -k etc

Remedy: Name the calls that can match, with the arch before them: all other calls then pass over the
rule. If only a few files of the tree matter, watch those files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from auditrules.lint import prices, wording
from auditrules.lint.context import Context, fields_of
from auditrules.lint.diagnostic import Diagnostic, Level, location_of
from auditrules.lint.findings.catch_all import is_catch_all
from auditrules.model.kernel_rule import Action, KernelRule
from auditrules.tables import lookup

CODE = "every-call"
LEVEL = Level.NOTE

_COMMON = "getppid"


def find(context: Context) -> Iterable[Diagnostic]:
    """Yield each rule that every call has to try."""
    for rule in context.walked:
        if not wording.is_all(rule.mask):
            continue
        if rule.action is Action.ALWAYS and is_catch_all(rule):
            continue  # has a finding of its own
        yield Diagnostic(
            CODE,
            LEVEL,
            f"every system call tries this rule{_proviso(context, rule)}",
            location_of(rule.source),
            rule.source.text if rule.source else "",
            _remedy(rule),
            prices.cost_of_walking(context, rule, lookup.calls("b64")[_COMMON]),
        )


def _remedy(rule: KernelRule) -> str:
    if "perm" in fields_of(rule):
        return "name the calls that need the permissions (-F arch=b64 -S …, and b32)"
    return "name the calls that can match (-F arch=b64 -S …, and b32)"


def _proviso(context: Context, rule: KernelRule) -> str:
    """Return the assumption that a path of -w without a slash is a directory."""
    if rule.directory is None or context.options.root is not None or rule.source is None:
        return ""
    watch = re.search(r"-w *(\S+)", rule.source.text)
    if watch is None or watch[1].endswith("/"):
        return ""
    return f", if {rule.directory} is a directory (auditctl checks)"
