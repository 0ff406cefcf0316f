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

from typing import TYPE_CHECKING

from hardcost.auditrules.eventrecords import type_name
from hardcost.auditrules.kernelrule import FilterList, Operator, Test
from hardcost.auditrules.lint import masks, recordtypes
from hardcost.auditrules.lint.context import column_of
from hardcost.auditrules.lint.diagnostic import Diagnostic, Level, spot_of
from hardcost.auditrules.tables import lookup

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hardcost.auditrules.lint.context import Context

CODE = "drops-unasked"
LEVEL = Level.WARNING

_UNASKED = ("LOGIN", "USER_AUTH", "AVC", "CONFIG_CHANGE")
_FAR_APART = 2
"""As many of them are of different subjects: dropping two can't be what the filter is for."""


def find(context: Context) -> Iterable[Diagnostic]:
    """Yield each exclude filter that drops what its conditions do not name."""
    for rule in context.by_rank:
        if rule.list is not FilterList.EXCLUDE or recordtypes.besides(rule):
            continue
        kept = [
            type_name(int(one.value))
            for one in rule.conditions
            if isinstance(one, Test) and one.operator is Operator.NOT_EQUAL
        ]
        types = recordtypes.named(rule)
        unasked = [name for name in _UNASKED if lookup.records()[name] in types]
        if not kept or len(unasked) < _FAR_APART:
            continue
        joined = ": its conditions are joined by `and`" if len(kept) > 1 else ""
        yield Diagnostic(
            CODE,
            LEVEL,
            f"it drops all records but {masks.listed(kept)}, also {masks.listed(unasked)}{joined}",
            spot_of(rule.source, column_of(rule.source, "msgtype")),
            rule.source.text if rule.source else "",
            "name the types to drop, with msgtype= and a rule for each",
        )
