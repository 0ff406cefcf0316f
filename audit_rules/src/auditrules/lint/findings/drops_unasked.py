"""An exclude filter with != drops nearly all other records.

What: A rule of the list `exclude` names only types that it is not about (msgtype!=), and tests
nothing else.

Why: It drops every record of another type, also those that no rule asks for: logins (LOGIN,
USER_AUTH), denials (AVC), changes of the configuration (CONFIG_CHANGE). Several conditions of one
rule are joined by "and", and nearly every record differs from each of several types.

Example:
    -a always,exclude -F msgtype!=SYSCALL -F msgtype!=PATH

Remedy: Name the types to drop, one rule for each: -a always,exclude -F msgtype=CWD.
"""

from __future__ import annotations

from collections.abc import Iterable

from auditrules.kernel.records import type_name
from auditrules.lint import record_types, wording
from auditrules.lint.context import Context, column_of
from auditrules.lint.diagnostic import Diagnostic, Level, location_of
from auditrules.model.kernel_rule import FieldTest, FilterList, Operator
from auditrules.tables import lookup

CODE = "drops-unasked"
LEVEL = Level.WARNING

_UNASKED = ("LOGIN", "USER_AUTH", "AVC", "CONFIG_CHANGE")
_FAR_APART = 2
"""As many of them are of different subjects: dropping two can't be what the filter is for."""


def find(context: Context) -> Iterable[Diagnostic]:
    """Yield each exclude filter that drops records that its conditions do not name."""
    for rule in context.by_rank:
        if rule.list is not FilterList.EXCLUDE or record_types.besides(rule):
            continue
        kept = [
            type_name(int(one.value))
            for one in rule.conditions
            if isinstance(one, FieldTest) and one.operator is Operator.NOT_EQUAL
        ]
        types = record_types.types_named(rule)
        unasked = [name for name in _UNASKED if lookup.records()[name] in types]
        if not kept or len(unasked) < _FAR_APART:
            continue
        joined = ": its conditions are joined by `and`" if len(kept) > 1 else ""
        yield Diagnostic(
            CODE,
            LEVEL,
            f"it drops all records but {wording.list_names(kept)},"
            f" also {wording.list_names(unasked)}{joined}",
            location_of(rule.source, column_of(rule.source, "msgtype")),
            rule.source.text if rule.source else "",
            "name the types to drop, with msgtype= and a rule for each",
        )
