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
from collections.abc import Iterable
from pathlib import Path

from auditrules.lint.context import Context
from auditrules.lint.diagnostic import Diagnostic, Level
from auditrules.model.location import Location
from auditrules.model.rule import RuleKind
from auditrules.read import ignore_comments

CODE = "ignored-nothing"
LEVEL = Level.WARNING

_FILES = pkgutil.iter_modules([str(Path(__file__).parent)])
_KNOWN = {*(one.name.replace("_", "-") for one in _FILES), ignore_comments.OVER_LIMIT}
"""All codes, by the names of the findings' files: `checks`, which lists them, imports this one."""


def find(context: Context) -> Iterable[Diagnostic]:
    """Yield each such comment."""
    kinds = {(one.place.file, one.place.line): one.kind for one in context.readings}
    for reading in context.readings:
        if reading.kind is not RuleKind.COMMENT or not ignore_comments.is_ours(reading.text):
            continue
        codes = ignore_comments.codes_in(reading.text)
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
        yield Diagnostic(CODE, LEVEL, f"the comment {said}", reading.place, reading.text, remedy)


def _has_line(place: Location, kinds: dict[tuple[str, int | None], RuleKind]) -> bool:
    """Say whether a line follows the comments that begin at a place."""
    next_line = place.below(1)
    while kinds.get((place.file, next_line.line)) is RuleKind.COMMENT:
        next_line = next_line.below(1)
    return kinds.get((place.file, next_line.line), RuleKind.BLANK) is not RuleKind.BLANK
