"""A line contains a NUL byte.

What: auditctl ignores the line from the NUL byte on. It reads the next line as usual.

Why: Whatever follows the byte is lost without a message: the rest of a rule, with its key, or the
whole rule. Usually the file is damaged, or not text.

Example:
    -w /etc/shadow -p wa -k identity<NUL> -k shadow

Remedy: Delete the byte, and check the rest of the file.
"""

from __future__ import annotations

from collections.abc import Iterable

from auditrules.lint.context import Context
from auditrules.lint.diagnostic import Diagnostic, Level

CODE = "nul-byte"
LEVEL = Level.WARNING


def find(context: Context) -> Iterable[Diagnostic]:
    """Yield each line with a NUL byte."""
    for reading in context.readings:
        if reading.cut_at is not None:
            yield Diagnostic(
                CODE,
                LEVEL,
                "auditctl ignores the line from here on: a NUL byte ends it",
                reading.place.at(reading.cut_at),
                reading.text,
                "delete the byte",
            )
