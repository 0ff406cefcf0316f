"""A rule's conditions can't all hold.

What: Two conditions exclude each other, no call that the rule names can have the permission that it
asks for, or the rule asks for success together with an error.

Why: The rule never fires. Every call that it names still pays for it, and its readers believe that
something is recorded.

Example:
    -a always,exit -F arch=b64 -S openat -F auid<1000 -F auid>=1000 -k access

Remedy: Remove the condition that was not intended. Conditions of one rule are joined by "and"; for
"or", write two rules.
"""

from __future__ import annotations

from collections.abc import Iterable

from auditrules.kernel.conditions import contradiction, value_of
from auditrules.kernel.field_tests import class_permissions, compare
from auditrules.lint import prices, wording
from auditrules.lint.context import Context, arch_of
from auditrules.lint.diagnostic import Diagnostic, Level, location_of
from auditrules.model.kernel_rule import FilterList, KernelRule, Operator, bits
from auditrules.tables import lookup
from auditrules.tables.lookup import Arch

CODE = "contradictory"
LEVEL = Level.WARNING

_BY_CALL = {
    "open": 6, "openat": 6, "openat2": 6, "execve": 1, "execveat": 1, "socketcall": 2,
}  # fmt: skip
"""The permissions (r 4, w 2, x 1, a 8) that a call may stand for by its arguments (AS:148)."""

_NEVER_LARGE = (
    "open", "openat", "openat2", "creat", "execve", "execveat", "open_by_handle_at", "mount",
    "umount", "umount2", "connect", "accept", "accept4", "socket",
)  # fmt: skip
"""Calls, beside those of the classes, whose results are small where they succeed. That of lseek or
mmap may have the same low 32 bits as an error, and the kernel compares no more."""


def find(context: Context) -> Iterable[Diagnostic]:
    """Yield each rule whose conditions can't all hold."""
    for rule in context.rules:
        message, remedy = _reason(rule)
        if message:
            yield Diagnostic(
                CODE,
                LEVEL,
                f"it never fires: {message}",
                location_of(rule.source),
                rule.source.text if rule.source else "",
                remedy,
                prices.cost_of_passing(context, rule),
            )


def _reason(rule: KernelRule) -> tuple[str, str]:
    """Return why a rule can't fire and what to do about it; nothing where it may."""
    clash = contradiction(rule.conditions, one_file=rule.in_a_bucket)
    if clash:
        words = wording.list_names([wording.condition_words(one) for one in clash])
        return f"{words} can't hold together", "remove one of them, or split the rule in two"
    if rule.list is not FilterList.EXIT or wording.is_all(rule.mask):
        return "", ""
    arch = arch_of(rule)
    arches = (arch,) if arch else lookup.ARCHES
    wanted = next(iter(rule.tests("perm")), None)
    if wanted is not None and not any(
        _permissions(one, call) & value_of(wanted) for one in arches for call in bits(rule.mask)
    ):
        calls = wording.calls_in_words(rule.mask, arches[0])
        return (
            f"none of {calls} can have {wording.condition_words(wanted)}",
            "name calls that can, or remove -S: perm alone selects its calls",
        )
    if _success_and_error(rule, arches):
        return "a call that succeeds does not return an error", "remove exit or success"
    return "", ""


def _permissions(arch: Arch, call: int) -> int:
    name = lookup.call_name(arch, call)
    return _BY_CALL.get(name) or class_permissions(arch, call, lookup.NEWEST)


def _success_and_error(rule: KernelRule, arches: tuple[Arch, ...]) -> bool:
    """Say whether a rule asks for success and for an error number, which exclude each other."""
    wants_success = any(
        compare(1, test.operator, mark) and not compare(2, test.operator, mark)
        for test in rule.tests("success")
        for mark in (1 if value_of(test) else 2,)
    )
    error = any(
        test.operator is Operator.EQUAL and value_of(test) >= _FIRST_ERROR
        for test in rule.tests("exit")
    )
    if not (wants_success and error):
        return False
    small = {lookup.calls(arch).get(name) for arch in arches for name in _NEVER_LARGE}
    return all(
        call in small or class_permissions(arch, call)
        for arch in arches
        for call in bits(rule.mask)
    )


_FIRST_ERROR = (1 << 32) - 4095
"""The smallest error number as 32 bits: -4095."""
