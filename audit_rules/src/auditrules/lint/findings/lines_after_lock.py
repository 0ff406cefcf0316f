"""Lines follow the one that locks the rules.

What: `-e 2` makes rules and settings immutable until the next boot, but lines that change them
follow. In a folder that augenrules merges, `-e` moves to the end wherever it stands, so there is no
finding. `--loginuid-immutable` still works after the lock.

Why: The kernel refuses every such line: the rules below are not loaded.

Example:
    -e 2
    -w /etc/shadow -p wa -k identity

Remedy: Make `-e 2` the last line; with several files, the last line of the last file.
"""

from __future__ import annotations

from collections.abc import Iterable

from auditrules.lint.context import Context
from auditrules.lint.diagnostic import Diagnostic, Level
from auditrules.model.location import Location
from auditrules.model.rule import LOCK, Reading, RuleKind

CODE = "lines-after-lock"
LEVEL = Level.ERROR

_CHANGE = frozenset({"-b", "-f", "-r", "-e", "--backlog_wait_time"})


def find(context: Context) -> Iterable[Diagnostic]:
    """Yield, once for each lock, the lines that can't take effect after it."""
    lock: Reading | None = None
    refused: list[Reading] = []
    for reading in context.readings:
        if reading.kind in {RuleKind.FAULT, RuleKind.REPLACED}:
            continue
        if lock is not None and _changes(reading):
            refused.append(reading)
        elif lock is None and LOCK in reading.settings:
            lock = reading
    if lock is None or not refused:
        return
    rules = sum(reading.rule is not None for reading in refused)
    what = f"{len(refused)} lines" if len(refused) > 1 else "1 line"
    yield Diagnostic(
        CODE,
        LEVEL,
        f"`-e 2` locks the rules: {what} below, {_rules(rules)}, {_are(refused)} refused",
        _spot(lock),
        lock.text,
        "make -e 2 the last line",
        related=tuple(_spot(reading) for reading in refused),
    )


def _rules(count: int) -> str:
    return {0: "no rules", 1: "1 of them a rule"}.get(count, f"{count} of them rules")


def _are(refused: list[Reading]) -> str:
    return "are" if len(refused) > 1 else "is"


def _spot(reading: Reading) -> Location:
    return reading.place


def _changes(reading: Reading) -> bool:
    """Say whether a line changes the locked state."""
    deletes = reading.deletes is not None or reading.deletion is not None
    sets = any(option in _CHANGE for option, _ in reading.settings)
    return deletes or sets or reading.rule is not None
