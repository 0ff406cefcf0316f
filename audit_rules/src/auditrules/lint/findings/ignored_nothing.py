"""A comment for hardcost leaves nothing out.

What: A comment that begins with `# hardcost:` names a code that does not exist, is not of the form
`# hardcost: ignore=CODE,CODE`, or has no line right below it.

Why: It was written to leave findings out, and these are reported all the same.

Example:
    # hardcost: ignore=no-keys
    -w /etc/passwd -p wa

Remedy: Write a code that `hardcost rules lint --list` lists, on the line above the rule, or delete
the comment.
"""

from __future__ import annotations

import pkgutil
from pathlib import Path
from typing import TYPE_CHECKING

from hardcost.auditrules import ignoring
from hardcost.auditrules.lint.diagnostic import Diagnostic, Level, Spot
from hardcost.auditrules.rule import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hardcost.auditrules.lint.context import Context
    from hardcost.auditrules.rule import Place

CODE = "ignored-nothing"
LEVEL = Level.WARNING

_FILES = pkgutil.iter_modules([str(Path(__file__).parent)])
_KNOWN = {*(one.name.replace("_", "-") for one in _FILES), ignoring.OVER_LIMIT}
"""All codes, by the names of the findings' files: `checks`, which lists them, imports this one."""


def find(context: Context) -> Iterable[Diagnostic]:
    """Yield each such comment."""
    kinds = {(one.place.file, one.place.line): one.kind for one in context.readings}
    for reading in context.readings:
        if reading.kind is not Kind.COMMENT or not ignoring.is_ours(reading.text):
            continue
        codes = ignoring.codes_in(reading.text)
        unknown = [code for code in codes if code not in _KNOWN]
        if not codes:
            why = "is not understood", "write `# hardcost: ignore=CODE`"
        elif unknown:
            why = f"names {unknown[0]!r}, which is no code", "`--list` lists the codes"
        elif not _has_line(reading.place, kinds):
            why = "has no line right below it", "put it on the line above a rule, or delete it"
        else:
            continue
        said, remedy = why
        spot = Spot(reading.place.file, reading.place.line)
        yield Diagnostic(CODE, LEVEL, f"the comment {said}", spot, reading.text, remedy)


def _has_line(place: Place, kinds: dict[tuple[str, int], Kind]) -> bool:
    """Say whether a line follows the comments that begin at a place."""
    line = place.line + 1
    while kinds.get((place.file, line)) is Kind.COMMENT:
        line += 1
    return kinds.get((place.file, line), Kind.BLANK) is not Kind.BLANK
