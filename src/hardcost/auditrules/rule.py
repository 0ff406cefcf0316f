"""Audit rules as they are written: the values that reading yields.

This package imports nothing else of hardcost, so that others can use it as a library.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """Where a line stands: the file as the user named it, and the line, from 1."""

    file: str
    line: int

    def __str__(self) -> str:
        """Return `file:line`."""
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Rule:
    """One rule (`-a`, `-A` or `-w` line), its words as the user wrote them.

    `key` is the first key (`-k`, `-F key=`), or "". `watched_directories` and `watched_files` are
    the absolute paths whose existence the rule needs or tests (`-w`, `-F path=`, `-F dir=`, `-F exe=`).
    """

    text: str
    place: Place | None = None
    key: str = ""
    watched_directories: tuple[str, ...] = ()
    watched_files: tuple[str, ...] = ()


@dataclass(frozen=True)
class RuleSet:
    """What files of rules say together.

    `options` are the control lines that matter to a measurement, such as
    `--backlog_wait_time 60000`; `tolerant`: the files ask to go on after a refused rule (-i, -c).
    `notes` tell what was read and not taken over (`-e 2`, `-f 2`, `-D` …), with the place.
    """

    rules: tuple[Rule, ...]
    backlog_limit: int | None = None
    options: tuple[str, ...] = ()
    tolerant: bool = False
    notes: tuple[str, ...] = ()
