"""A rule about people matches processes without a login too.

What: The rule tests auid or sessionid with > or >=, or compares auid with another field (-C
auid!=), and no condition excludes a login that is unset. It is not reported where an earlier rule
decides about such processes.

Why: An unset auid or sessionid is 4294967295, the largest number of all, and equals no user. Every
daemon has it, so auid>=1000 also matches all of them.

Example:
    -a always,exit -F arch=b64 -S chmod -F auid>=1000 -k perm_mod

Remedy: Add -F auid!=unset.
"""

from __future__ import annotations

from collections.abc import Iterable

from auditrules.kernel.conditions import contradiction
from auditrules.lint import wording
from auditrules.lint.context import Context, column_of
from auditrules.lint.diagnostic import Diagnostic, Level, location_of
from auditrules.lint.supersets import Covering, Numbered
from auditrules.model.kernel_rule import (
    UNSET,
    Condition,
    FieldTest,
    FilterList,
    IdComparison,
    KernelRule,
    Operator,
)

CODE = "unset-auid"
LEVEL = Level.WARNING

_UPWARDS = frozenset({Operator.GREATER, Operator.GREATER_OR_EQUAL})
_LOGIN = frozenset({"auid", "sessionid"})
_NO_LOGIN = (
    FieldTest("loginuid_set", Operator.EQUAL, 0),
    FieldTest("sessionid", Operator.EQUAL, UNSET),
)
"""The conditions on a process without a login: the kernel sets both at once."""


def find(context: Context) -> Iterable[Diagnostic]:
    """Yield each rule that matches processes without a login as well."""
    rules = [one for one in context.by_rank if one.list is FilterList.EXIT]
    # Behind the rules' conditions stand those of a process without a login that matches.
    unset = [(*one.conditions, *_NO_LOGIN) for one in rules]
    covering = Covering(Numbered([*(one.conditions for one in rules), *unset]))
    for index, rule in enumerate(rules):
        asked = _surprising_condition(rule)
        if asked and not covering.covering_rules(len(rules) + index, rule.mask):
            yield _diagnostic(rule, asked)
        if rule.path is None:
            covering.add(index, rule.mask)
    for rule in context.rules:
        asked = _surprising_condition(rule) if rule.list is not FilterList.EXIT else None
        if asked:
            yield _diagnostic(rule, asked)


def _diagnostic(rule: KernelRule, asked: Condition) -> Diagnostic:
    said = wording.condition_words(asked)
    return Diagnostic(
        CODE,
        LEVEL,
        f"{said} also holds where no login is set: every daemon matches too",
        location_of(rule.source, _column(rule, asked)),
        rule.source.text if rule.source else "",
        "add -F auid!=unset",
    )


def _column(rule: KernelRule, asked: Condition) -> int | None:
    if isinstance(asked, IdComparison):
        return column_of(rule.source, "-C")
    return column_of(rule.source, f"{asked.field}{asked.operator}")


def _surprising_condition(rule: KernelRule) -> Condition | None:
    """Return the condition that holds of processes without a login though it names others."""
    found = next((one for one in rule.conditions if _upwards(one)), None)
    if found is None or contradiction((*rule.conditions, *_NO_LOGIN)):
        return None
    equal = any(
        isinstance(one, IdComparison)
        and "auid" in {one.left, one.right}
        and one.operator is Operator.EQUAL
        for one in rule.conditions
    )
    return None if equal else found


def _upwards(condition: Condition) -> bool:
    if isinstance(condition, IdComparison):
        return "auid" in {condition.left, condition.right} and (
            condition.operator is Operator.NOT_EQUAL
        )
    return condition.field in _LOGIN and condition.operator in _UPWARDS
