"""Lines stand below the one that locks the rules.

What: `-e 2` makes rules and settings immutable until the next boot, and lines that change them
follow. In a folder that augenrules puts together, `-e` goes to the end wherever it stands, and
nothing is found. `--loginuid-immutable` still works behind it.

Why: The kernel refuses every such line: the rules below are not loaded.

Example:
    -e 2
    -w /etc/shadow -p wa -k identity

Remedy: Make `-e 2` the last line; in several files, the last line of the last.
"""

from __future__ import annotations

from getopt import GetoptError
from typing import TYPE_CHECKING

from hardcost.auditrules.lint.finding import Finding, Level, Spot
from hardcost.auditrules.rule import Kind, split_options, split_words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hardcost.auditrules.lint.context import Context
    from hardcost.auditrules.rule import Reading

CODE = "lines-after-lock"
LEVEL = Level.ERROR

_CHANGE = frozenset(
    {"-a", "-A", "-w", "-d", "-D", "-W", "-b", "-f", "-r", "-e", "--backlog_wait_time"}
)
_SPOKEN = frozenset({Kind.RULE, Kind.SETTING, Kind.MOOT, Kind.LEFT_OUT})


def find(context: Context) -> Iterable[Finding]:
    """Yield, once for each lock, what can't take effect behind it."""
    lock: Reading | None = None
    refused: list[Reading] = []
    for reading in context.readings:
        if reading.kind not in _SPOKEN:
            continue
        if lock is None:
            locks = reading.rule is None and ("-e", 2) in _settings(reading)
            lock = reading if locks else None
        elif reading.rule is not None or any(option in _CHANGE for option, _ in _settings(reading)):
            refused.append(reading)
    if lock is None or not refused:
        return
    rules = sum(reading.rule is not None for reading in refused)
    what = f"{len(refused)} lines" if len(refused) > 1 else "a line"
    yield Finding(
        CODE,
        LEVEL,
        f"`-e 2` locks the rules, and {what} ({rules} of them rules) below {_are(refused)} refused",
        _spot(lock),
        lock.text,
        "make -e 2 the last line",
        related=tuple(_spot(reading) for reading in refused),
    )


def _are(refused: list[Reading]) -> str:
    return "are" if len(refused) > 1 else "is"


def _spot(reading: Reading) -> Spot:
    return Spot(reading.place.file, reading.place.line)


def _settings(reading: Reading) -> list[tuple[str, str | int]]:
    """Return a line's options, with -e's value as the number that auditctl reads."""
    try:
        options, _ = split_options(split_words(reading.text))
    except GetoptError:
        return []
    return [
        (option, _number(value)) if option == "-e" else (option, value) for option, value in options
    ]


def _number(value: str) -> int | str:
    try:
        return int(value, 8 if value.startswith("0") and value.isdigit() else 0)
    except ValueError:
        return value
