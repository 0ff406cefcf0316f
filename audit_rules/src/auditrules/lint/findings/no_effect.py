"""A rule on another list than exit does nothing.

What: On the lists `user` and `exclude`: a rule without conditions; one whose record types never
come by there; on `user` also one with a key or a field that the kernel does not test there, and
`always` without a later `never`. On `task`: a field that a new task has not yet. On `filesystem`: a
rule with `always`, or without fstype.

Why: The kernel walks past it, or ends the walk there and writes the record. Its readers believe
that something is dropped, or recorded.

Example:
    -a never,user -F euid=0

Remedy: Test what the kernel knows there: uid, gid, auid, pid, msgtype, exe and the subject's label
on `user` and `exclude`, the process's ids, exe and label on `task`.
"""

from __future__ import annotations

from collections.abc import Iterable

from auditrules.auditctl.field_values import OF_A_RECORD, OF_A_TASK
from auditrules.kernel.conditions import contradiction
from auditrules.lint import record_types, wording
from auditrules.lint.context import Context, column_of
from auditrules.lint.diagnostic import Diagnostic, Level, location_of
from auditrules.model.kernel_rule import Action, FieldTest, FilterList, KernelRule

CODE = "no-effect"
LEVEL = Level.WARNING

_OF_RECORDS = frozenset({FilterList.USER, FilterList.EXCLUDE})


def find(context: Context) -> Iterable[Diagnostic]:
    """Yield each rule that does nothing."""
    dropping = False
    found = []
    for rule in reversed(context.by_rank):
        reason, remedy = _reason(rule, dropping=dropping)
        if reason:
            found.append(
                Diagnostic(
                    CODE,
                    LEVEL,
                    f"it does nothing: {reason}",
                    location_of(rule.source, column_of(rule.source, rule.action)),
                    rule.source.text if rule.source else "",
                    remedy,
                )
            )
        elif rule.list is FilterList.USER and rule.action is Action.NEVER:
            dropping = True
    return found


def _reason(rule: KernelRule, *, dropping: bool) -> tuple[str, str]:
    """Return why a rule does nothing and what to do about it; nothing where it does something.

    `dropping`: a rule after it keeps records of programs from being written.
    """
    if rule.list in _OF_RECORDS:
        return _of_records(rule, dropping=dropping)
    if rule.list is FilterList.TASK:
        lacking = [
            one.field
            for one in rule.conditions
            if isinstance(one, FieldTest) and one.field not in OF_A_TASK
        ]
        if lacking:
            return (
                f"a new task has no {wording.list_names(lacking)} yet",
                "test the process instead",
            )
    if rule.list is FilterList.FILESYSTEM:
        if rule.action is Action.ALWAYS:
            return "on this list the kernel heeds only `never`", "write never,filesystem"
        if not rule.conditions:
            return "it names no file system", "add -F fstype="
    return "", ""


def _of_records(rule: KernelRule, *, dropping: bool) -> tuple[str, str]:
    if not rule.conditions:
        return "on this list a rule without conditions matches nothing", "add a condition"
    foreign = [
        one.field
        for one in rule.conditions
        if isinstance(one, FieldTest) and one.field not in OF_A_RECORD
    ]
    foreign += ["its key"] if rule.key else []
    if foreign:
        what = wording.list_names(foreign)
        return (
            f"the kernel does not test {what} there, but ends the walk and writes the record",
            (
                "test only"
                f" {wording.list_names(sorted(OF_A_RECORD - {'loginuid_set'}), len(OF_A_RECORD))}"
            ),
        )
    if contradiction(rule.conditions):
        return "", ""  # reported as such
    return _of_types(rule, dropping=dropping)


def _of_types(rule: KernelRule, *, dropping: bool) -> tuple[str, str]:
    types = record_types.types_named(rule)
    if not types - record_types.OF_AUDITD:
        return "auditd writes these records itself, without the kernel", "delete it"
    if rule.list is not FilterList.USER:
        return "", ""
    if not types & record_types.OF_PROGRAMS:
        return "programs send no records of this type", "use the list exclude"
    if rule.action is Action.ALWAYS and not dropping:
        return (
            "what programs send is written anyway, and no rule after it drops any of that",
            "delete it, or put it before the rule from which it is an exception",
        )
    return "", ""
