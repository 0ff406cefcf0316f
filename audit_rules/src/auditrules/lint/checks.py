"""All diagnostics that there are, a line for each, and looking for them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from importlib import import_module
from typing import Any

from auditrules.lint.check import Documentation, LintCheck, documentation
from auditrules.lint.context import Context
from auditrules.lint.diagnostic import Diagnostic, Level

CODES: tuple[str, ...] = (
    "cannot-load",
    "other-arch",
    "line-ends",
    "key-too-long",
    "duplicate-rule",
    "lines-after-lock",
    "deleted-again",
    "nul-byte",
    "quotes",
    "odd-bytes",
    "ignored-nothing",
    "audit-off",
    "nothing-written",
    "drops-unasked",
    "never-exclude",
    "no-effect",
    "contradictory",
    "positive-errno",
    "exit-unsigned",
    "field-as-value",
    "arch-lacks-call",
    "negated-arch",
    "dead-b32",
    "shadowed",
    "never-too-late",
    "no-arch",
    "twin-missing",
    "at-call-missing",
    "missing-path",
    "wildcard-path",
    "unstable-order",
    "unset-auid",
    "catch-all",
    "high-volume",
    "dir-for-file",
    "small-backlog",
    "no-key",
    "auid-not-tested",
    "every-call",
    "b32-taxes-b64",
    "mergeable",
    "costly-order",
)
"""In the order in which a page lists them: what keeps rules from working, what they miss, cost."""


def _check(code: str) -> LintCheck:
    """Return the file of a diagnostic, which has the diagnostic's name."""
    found: Any = import_module(f"{__package__}.findings.{code.replace('-', '_')}")
    check: LintCheck = found
    return check


CHECKS: tuple[LintCheck, ...] = tuple(_check(code) for code in CODES)

_RANKS = {level: rank for rank, level in enumerate(Level)}


def findings_in(
    context: Context,
    select: Collection[str] = CODES,
    ignore: Collection[str] = (),
    tell: Callable[[str, float], None] = lambda _doing, _done: None,
) -> tuple[Diagnostic, ...]:
    """Return the diagnostics: file by file as they load, and by line.

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
    """Return the documentation in each diagnostic's file."""
    return tuple(documentation(check) for check in CHECKS)


def _files(context: Context) -> list[str]:
    """Return the files in the order in which they load."""
    return list(dict.fromkeys(reading.place.file for reading in context.readings))
