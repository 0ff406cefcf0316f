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

from collections.abc import Iterable

from auditrules.lint import prices, wording
from auditrules.lint.context import Context, arch_of, column_of
from auditrules.lint.diagnostic import Diagnostic, Level, location_of
from auditrules.model.kernel_rule import Condition, FieldTest, KernelRule, Operator, is_test
from auditrules.tables import lookup

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
        under = [
            wording.condition_words(one) for one in rule.conditions if not is_test(one, "arch")
        ]
        number = lookup.calls("b64")[_COMMON]
        yield Diagnostic(
            CODE,
            LEVEL,
            f"it records every {whose}call{' under ' + wording.list_names(under) if under else ''}",
            location_of(rule.source, column_of(rule.source, "-S")),
            rule.source.text if rule.source else "",
            "name the calls that matter, or narrow it by path, program, exit code or permission",
            prices.cost_of_recording(context, rule, number, "b64")
            or prices.cost_of_walking(context, rule, number),
        )


def is_catch_all(rule: KernelRule) -> bool:
    """Say whether a rule names all calls and hardly narrows them."""
    return wording.is_all(rule.mask) and all(map(_is_wide, rule.conditions))


def _is_wide(condition: Condition) -> bool:
    """Say whether a condition leaves much: a certain user or session is narrow, a range is not."""
    if not isinstance(condition, FieldTest) or condition.field not in _WIDE:
        return False
    narrow = condition.field in {"auid", "sessionid"} and condition.operator is Operator.EQUAL
    return not narrow
