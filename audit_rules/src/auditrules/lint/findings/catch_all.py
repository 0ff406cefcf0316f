"""A rule records every call.

What: The rule names all calls and does not restrict arguments, results, files or programs: at most
the login user or the ABI.

Why: Every call of every program that it covers is recorded. That floods the log, makes the machine
wait for the audit daemon, and buries what matters. Even if the rule's user or ABI never occurs,
every call pays for the test.

Example:
    -a always,exit -F arch=b64 -S all -F auid>=1000 -k everything

Remedy: Name the calls that matter, or narrow the rule by path, program, exit code or permission.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.auditrules.kernelrule import Operator, Test
from hardcost.auditrules.lint import masks, pricing
from hardcost.auditrules.lint.context import arch_of, column_of
from hardcost.auditrules.lint.diagnostic import Diagnostic, Level, spot_of
from hardcost.auditrules.tables import lookup

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hardcost.auditrules.kernelrule import Condition, KernelRule
    from hardcost.auditrules.lint.context import Context

CODE = "catch-all"
LEVEL = Level.WARNING

_WIDE = frozenset({"arch", "auid", "loginuid_set", "pers", "sessionid"})
_COMMON = "read"


def find(context: Context) -> Iterable[Diagnostic]:
    """Yield each rule that records every call."""
    for rule in context.recording:
        if rule.in_a_bucket or not is_catch_all(rule):
            continue
        arch = arch_of(rule)
        whose = {"b64": "64-bit ", "b32": "32-bit ", None: ""}[arch]
        under = [masks.said(one) for one in rule.conditions if not _is_arch(one)]
        number = lookup.calls("b64")[_COMMON]
        yield Diagnostic(
            CODE,
            LEVEL,
            f"it records every {whose}call{' under ' + masks.listed(under) if under else ''}",
            spot_of(rule.source, column_of(rule.source, "-S")),
            rule.source.text if rule.source else "",
            "name the calls that matter, or narrow it by path, program, exit code or permission",
            pricing.recording(context, rule, number, "b64")
            or pricing.walking(context, rule, number),
        )


def is_catch_all(rule: KernelRule) -> bool:
    """Say whether a rule names all calls and hardly narrows them."""
    return masks.is_all(rule.mask) and all(map(_is_wide, rule.conditions))


def _is_wide(condition: Condition) -> bool:
    """Say whether a condition leaves much: a certain user or session is narrow, a range is not."""
    if not isinstance(condition, Test) or condition.field not in _WIDE:
        return False
    narrow = condition.field in {"auid", "sessionid"} and condition.operator is Operator.EQUAL
    return not narrow


def _is_arch(condition: Condition) -> bool:
    return isinstance(condition, Test) and condition.field == "arch"
