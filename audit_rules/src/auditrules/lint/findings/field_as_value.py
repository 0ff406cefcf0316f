"""A rule compares two fields with -F instead of -C.

What: The value of a user or group in -F is the name of a field, such as uid!=euid.

Why: -F compares a field with a value, so auditctl looks for a user of that name. It refuses the
rule if there is none, and stops there unless -i or -c has it continue.

Example:
    -a always,exit -F arch=b64 -S execve -F uid!=euid -F auid!=unset -k setuid

Remedy: Write -C uid!=euid.
"""

from __future__ import annotations

from collections.abc import Iterable

from auditrules.auditctl.field_values import ALIASES, GROUPS, USERS, fold_case
from auditrules.auditctl.translate import COMPARABLE
from auditrules.lint.context import Context, column_of
from auditrules.lint.diagnostic import Diagnostic, Level, location_of
from auditrules.model.kernel_rule import FieldTest, Operator

CODE = "field-as-value"
LEVEL = Level.WARNING

_EQUALITY = frozenset({Operator.EQUAL, Operator.NOT_EQUAL})


def find(context: Context) -> Iterable[Diagnostic]:
    """Yield each condition whose value is the name of a field."""
    for rule in context.rules:
        for one in rule.conditions:
            if not isinstance(one, FieldTest) or not isinstance(one.value, str):
                continue
            meant = fold_case(one.value)
            if one.field not in USERS | GROUPS or meant not in {*USERS, *GROUPS, *ALIASES}:
                continue
            kind = "user" if one.field in USERS else "group"
            yield Diagnostic(
                CODE,
                LEVEL,
                f"{one.field}{one.operator}{one.value} compares with the {kind} named {one.value},"
                f" not with the field: auditctl refuses it where there is no such {kind}",
                location_of(rule.source, column_of(rule.source, one.field)),
                rule.source.text if rule.source else "",
                _remedy(one, ALIASES.get(meant, meant)),
            )


def _remedy(test: FieldTest, other: str) -> str:
    pairs = {(test.field, other), (other, test.field)}
    if test.operator in _EQUALITY and pairs & COMPARABLE:
        return f"write -C {test.field}{test.operator}{other}"
    return "compare it with a value: -C can't compare these two so"
