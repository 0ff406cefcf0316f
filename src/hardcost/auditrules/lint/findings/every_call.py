"""Every system call has to try a rule.

What: The rule lies in the list that each call walks, and names all calls: a tree (`dir`, `-w` of a
directory), a program (`exe`), or conditions such as exit=-EINVAL without -S. A watch of a file does
not: it is asked only of calls that touch the file.

Why: Each call of each program tests the rule's first conditions, whatever the call is, so that the
cost grows with the number of such rules and falls on those that do nothing of the kind.

Example:
    -a always,exit -F dir=/etc -F perm=wa -k etc

Remedy: Name the calls that can match, and the arch in front of them: all other calls then pass over
the rule. Where few files in the tree matter, watch these.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hardcost.auditrules.kernelrule import Action
from hardcost.auditrules.lint import masks, pricing
from hardcost.auditrules.lint.context import fields_of
from hardcost.auditrules.lint.diagnostic import Diagnostic, Level, spot_of
from hardcost.auditrules.lint.findings.catch_all import is_catch_all
from hardcost.auditrules.tables import lookup

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hardcost.auditrules.kernelrule import KernelRule
    from hardcost.auditrules.lint.context import Context

CODE = "every-call"
LEVEL = Level.NOTE

_COMMON = "getppid"


def find(context: Context) -> Iterable[Diagnostic]:
    """Yield each rule that every call has to try."""
    for rule in context.walked:
        if not masks.is_all(rule.mask):
            continue
        if rule.action is Action.ALWAYS and is_catch_all(rule):
            continue  # has a finding of its own
        yield Diagnostic(
            CODE,
            LEVEL,
            f"every call tries this rule, whatever the call is{_proviso(context, rule)}",
            spot_of(rule.source),
            rule.source.text if rule.source else "",
            _remedy(rule),
            pricing.walking(context, rule, lookup.calls("b64")[_COMMON]),
        )


def _remedy(rule: KernelRule) -> str:
    if "perm" in fields_of(rule):
        return "name the calls that the permissions stand for (-F arch=b64 -S …, and b32)"
    return "name the calls that can match (-F arch=b64 -S …, and b32)"


def _proviso(context: Context, rule: KernelRule) -> str:
    """Return what is only believed: that what -w names without a slash is a directory."""
    if rule.directory is None or context.options.root is not None or rule.source is None:
        return ""
    watch = re.search(r"-w *(\S+)", rule.source.text)
    if watch is None or watch[1].endswith("/"):
        return ""
    return f", as long as {rule.directory} is a directory (auditctl looks)"
