"""An exclude filter drops the record of the call itself.

What: A rule of the list `exclude` drops all records, or those of the type SYSCALL, whose processes
are all that some rule could record. Which rules stand above or below it makes no difference.

Why: Rules decide which calls are recorded; the exclude filter then drops each record that matches
it, whatever its action says. Without SYSCALL, which carries the key, the kernel writes nothing of
the call: no PATH, CWD or PROCTITLE either. The rules still cost what they cost.

Example:
    -w /etc/shadow -p wa -k identity
    -a always,exclude -F msgtype>0

Remedy: Delete the filter, or name only the types that are not needed. To keep later rules from
being loaded, lock the configuration with -e 2.
"""

from __future__ import annotations

from collections.abc import Iterable

from auditrules.kernel.conditions import follows
from auditrules.kernel.records import SYSCALL
from auditrules.lint import record_types, wording
from auditrules.lint.context import Context, column_of
from auditrules.lint.diagnostic import Diagnostic, Level, location_of
from auditrules.model.kernel_rule import Condition, FilterList, KernelRule, is_test

CODE = "nothing-written"
LEVEL = Level.WARNING

_MOST_JUDGED = 16
"""Filters that drop SYSCALL: each is compared with all rules, and one is enough."""


def find(context: Context) -> Iterable[Diagnostic]:
    """Yield each exclude filter under which rules write nothing."""
    filters = [
        one
        for one in context.by_rank
        if one.list is FilterList.EXCLUDE
        and one.conditions
        and SYSCALL in record_types.types_named(one)
    ]
    for rule in filters[:_MOST_JUDGED]:
        types, rest = record_types.types_named(rule), record_types.besides(rule)
        useless = [one for one in context.recording if _within(rest, one)]
        if rest and not useless:
            continue
        yield Diagnostic(
            CODE,
            LEVEL,
            _message(types, rest, len(useless)),
            location_of(rule.source, column_of(rule.source, "msgtype")),
            rule.source.text if rule.source else "",
            "delete it, or name only the types that are not needed",
            related=tuple(location_of(one.source) for one in useless),
        )


def _within(rest: tuple[Condition, ...], rule: KernelRule) -> bool:
    """Say whether a filter's conditions hold for all that a rule records."""
    return all(
        # Only rules count a process's supplementary groups (AS:508).
        not is_test(one, "gid") and follows(one, rule.conditions)
        for one in rest
    )


def _message(types: frozenset[int], rest: tuple[Condition, ...], useless: int) -> str:
    what = "every record" if types == record_types.RECORDS else "SYSCALL"
    where = (
        f" where {wording.list_names([wording.condition_words(one) for one in rest])}"
        if rest
        else ""
    )
    why = "" if what == "every record" else ", without which the kernel writes no record of a call"
    rules = f"{useless} rules write" if useless > 1 else "one rule writes"
    return f"it drops {what}{where}{why}{f': {rules} nothing' if useless else ''}"
