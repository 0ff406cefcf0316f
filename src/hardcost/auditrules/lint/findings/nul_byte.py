"""A line holds a NUL byte.

What: auditctl sees nothing of the line from the NUL byte on. The next line is read as usual.

Why: What stands behind the byte is lost without a word: the rest of a rule, with its key, or the
whole rule. Mostly the file is damaged, or is no text.

Example:
    -w /etc/shadow -p wa -k identity<NUL> -k shadow

Remedy: Delete the byte, and look whether the rest of the file is what it should be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.auditrules.lint.diagnostic import Diagnostic, Level, Spot

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hardcost.auditrules.lint.context import Context

CODE = "nul-byte"
LEVEL = Level.WARNING


def find(context: Context) -> Iterable[Diagnostic]:
    """Yield each line that holds one."""
    for reading in context.readings:
        if reading.cut_at is not None:
            yield Diagnostic(
                CODE,
                LEVEL,
                "auditctl sees nothing of the line from here on: a NUL byte ends it",
                Spot(reading.place.file, reading.place.line, reading.cut_at),
                reading.text,
                "delete the byte",
            )
