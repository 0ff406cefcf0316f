"""A rule of the list exclude is meant as an exception.

What: A rule `never,exclude` matches records that a rule `always,exclude` matches too.

Why: The kernel ignores the action on this list: whatever matches is dropped. So `never` does not
keep a record from the other rule; it drops the record itself.

Example:
    -a never,exclude -F msgtype=SYSCALL
    -a always,exclude -F msgtype>=1300 -F msgtype<=1399

Remedy: Delete it, and let the other rule name only what is to be dropped: the list knows no
exceptions.
"""

from __future__ import annotations

from collections.abc import Iterable

from auditrules.kernel.conditions import contradiction
from auditrules.lint import record_types
from auditrules.lint.context import Context, column_of
from auditrules.lint.diagnostic import Diagnostic, Level, location_of
from auditrules.model.kernel_rule import Action, FieldTest, FilterList, KernelRule, Operator

CODE = "never-exclude"
LEVEL = Level.WARNING

_MOST_COMPARED = 256
"""Rules of either action: far more than anybody writes."""


def find(context: Context) -> Iterable[Diagnostic]:
    """Yield each rule that is meant to keep records that another rule drops."""
    rules = [one for one in context.by_rank if one.list is FilterList.EXCLUDE and one.conditions]
    dropping = [one for one in rules if one.action is Action.ALWAYS][:_MOST_COMPARED]
    keeping = [one for one in rules if one.action is Action.NEVER]
    for rule in keeping[:_MOST_COMPARED]:
        other = next((one for one in dropping if _meet(rule, one)), None)
        if other is not None:
            there = location_of(other.source)
            yield Diagnostic(
                CODE,
                LEVEL,
                f"it drops what it names, as {there} does: the kernel ignores `never` on this list",
                location_of(rule.source, column_of(rule.source, "never")),
                rule.source.text if rule.source else "",
                "delete it; the list exclude knows no exceptions",
                related=(there,),
            )


def _meet(rule: KernelRule, other: KernelRule) -> bool:
    """Say whether one record may match both."""
    if not record_types.types_named(rule) & record_types.types_named(other):
        return False
    texts = [
        {
            one.field: one.value
            for one in each.conditions
            if isinstance(one, FieldTest) and one.operator is Operator.EQUAL
        }
        for each in (rule, other)
    ]
    apart = any(texts[1].get(field, value) != value for field, value in texts[0].items())
    return not apart and not contradiction((*rule.conditions, *other.conditions))
