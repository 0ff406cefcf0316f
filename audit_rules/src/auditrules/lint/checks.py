"""All findings that there are, and looking for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.auditrules.lint.diagnostic import Diagnostic, Documentation, Level, documentation
from hardcost.auditrules.lint.findings import (
    arch_lacks_call,
    at_call_missing,
    audit_off,
    auid_not_tested,
    b32_taxes_b64,
    cannot_load,
    catch_all,
    contradictory,
    costly_order,
    dead_b32,
    deleted_again,
    dir_for_file,
    drops_unasked,
    duplicate_rule,
    every_call,
    exit_unsigned,
    field_as_value,
    high_volume,
    ignored_nothing,
    key_too_long,
    line_ends,
    lines_after_lock,
    mergeable,
    missing_path,
    negated_arch,
    never_exclude,
    never_too_late,
    no_arch,
    no_effect,
    no_key,
    nothing_written,
    nul_byte,
    odd_bytes,
    other_arch,
    positive_errno,
    quotes,
    shadowed,
    small_backlog,
    twin_missing,
    unset_auid,
    unstable_order,
    wildcard_path,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from hardcost.auditrules.lint.context import Context
    from hardcost.auditrules.lint.diagnostic import Check

CHECKS: tuple[Check, ...] = (
    cannot_load,
    other_arch,
    line_ends,
    key_too_long,
    duplicate_rule,
    lines_after_lock,
    deleted_again,
    nul_byte,
    quotes,
    odd_bytes,
    ignored_nothing,
    audit_off,
    nothing_written,
    drops_unasked,
    never_exclude,
    no_effect,
    contradictory,
    positive_errno,
    exit_unsigned,
    field_as_value,
    arch_lacks_call,
    negated_arch,
    dead_b32,
    shadowed,
    never_too_late,
    no_arch,
    twin_missing,
    at_call_missing,
    missing_path,
    wildcard_path,
    unstable_order,
    unset_auid,
    catch_all,
    high_volume,
    dir_for_file,
    small_backlog,
    no_key,
    auid_not_tested,
    every_call,
    b32_taxes_b64,
    mergeable,
    costly_order,
)
"""In the order in which a page lists them: what keeps rules from working, what they miss, cost."""

CODES: tuple[str, ...] = tuple(check.CODE for check in CHECKS)

_RANKS = {level: rank for rank, level in enumerate(Level)}


def lint(
    context: Context,
    select: Collection[str] = CODES,
    ignore: Collection[str] = (),
    tell: Callable[[str, float], None] = lambda _doing, _done: None,
) -> tuple[Diagnostic, ...]:
    """Return what there is to say: file by file as they load, and by line.

    `select` and `ignore` are codes. `tell` takes what is being done, and what part of all is done.
    """
    files = {name: at for at, name in enumerate(_files(context))}
    ranks = {code: at for at, code in enumerate(CODES)}
    found: list[Diagnostic] = []
    checks = [one for one in CHECKS if one.CODE in select and one.CODE not in ignore]
    for nth, check in enumerate(checks):
        tell(f"looking for {check.CODE}", nth / len(checks))
        found.extend(check.find(context))
    return tuple(
        sorted(
            found,
            key=lambda one: (
                files.get(one.spot.file, -1),
                one.spot.line or 0,
                _RANKS[one.level],
                ranks[one.code],
            ),
        )
    )


def documentations() -> tuple[Documentation, ...]:
    """Return what each finding's file says of it."""
    return tuple(documentation(check) for check in CHECKS)


def _files(context: Context) -> list[str]:
    """Return the files in the order in which they load."""
    return list(dict.fromkeys(reading.place.file for reading in context.readings))
